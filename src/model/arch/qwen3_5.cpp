// Qwen3.5, dense and with experts (text, also inside the multimodal checkpoint), and Qwen3-Next.
// References: transformers/models/qwen3_5/modeling_qwen3_5.py, qwen3_5_moe/modeling_qwen3_5_moe.py
// and qwen3_next/modeling_qwen3_next.py.
//
// The differences from Llama:
//   three layers of four have no attention but the gated delta rule (arXiv:2412.06464) after a
//   short convolution; its output is normed per head, with a plain weight, and gated by silu(z)
//   attention is gated by a sigmoid: q_proj holds, per head, the query and then the gate's rows
//   q and k are normed per head and turned in their first part only; norms are stored as w - 1
//   Qwen3-Next: q, k, v and z of the delta rule are rows of one tensor, key head by key head
// The multi-axis rotary positions of images are the ordinary ones for text. The vision tower and
// the layers that predict further tokens (mtp) take no part.
#include "model/arch/qwen3_5.h"

#include <cmath>

namespace tokamak {
namespace {

struct DeltaDecoder : TextDecoder {
  DeltaDecoder(ModelBuilder& builder, const Qwen35Config& config)
      : TextDecoder(builder, config), own(config) {}

  /// The rows that `parts` tells of the block of each key head, one part after the other.
  struct Part {
    uint32_t first, count;
  };
  std::vector<ModelBuilder::Piece> blocks(const std::string& tensor, uint32_t block,
                                          std::initializer_list<Part> parts) const {
    std::vector<ModelBuilder::Piece> rows;
    for (const Part& part : parts) {
      for (uint32_t head = 0; head < own.key_heads; ++head) {
        rows.push_back({tensor, {head * block + part.first, part.count, own.key_heads * block}});
      }
    }
    return rows;
  }

  struct Projected {
    ValueId qkv, z, ab;
  };
  Projected projected(const std::string& at, ValueId x) {
    const uint32_t h = own.value_heads, dk = own.dk;
    const std::string all = at + "in_proj_qkvz.weight";
    if (!b.has(all)) {
      const ValueId qkv = b.projection(x, at + "in_proj_qkv", 2 * own.key_heads * dk + h * own.dv);
      const ValueId z = b.projection(x, at + "in_proj_z", h * own.dv);
      return {qkv, z, rates_of(at, x)};
    }
    const uint32_t v = h / own.key_heads * own.dv, block = 2 * dk + 2 * v;
    const ValueId qkv =
        b.projection(x, at + "in_proj_qkv", blocks(all, block, {{0, dk}, {dk, dk}, {2 * dk, v}}));
    const ValueId z = b.projection(x, at + "in_proj_z", blocks(all, block, {{2 * dk + v, v}}));
    return {qkv, z, rates_of(at, x)};
  }
  ValueId rates_of(const std::string& at, ValueId x) {
    const uint32_t h = own.value_heads, each = h / own.key_heads;
    const std::string ba = at + "in_proj_ba.weight";
    if (b.has(ba)) {
      return b.projection(x, at + "in_proj_ab", blocks(ba, 2 * each, {{each, each}, {0, each}}));
    }
    return b.projection(
        x, at + "in_proj_ab",
        {{at + "in_proj_a.weight", {0, h, h}}, {at + "in_proj_b.weight", {0, h, h}}});
  }

  /// x: [T, hidden] -> [T, hidden]
  ValueId delta_rule(uint32_t layer, ValueId x) {
    const std::string at = p + "linear_attn.";
    const uint32_t h = own.value_heads;
    auto [qkv, z, ab] = projected(at, x);
    ValueId rates = b.vectors(at + "rates", {at + "A_log", at + "dt_bias"}, h);
    qkv = b.convolution(layer, qkv, at + "conv1d", own.taps, Activation::kSilu);
    ValueId before = b.recurrent(fmt::format("delta.{}", layer), {h, own.dk, own.dv});
    const GatedDelta rule{own.key_heads, own.tiled, own.negated};
    ValueId y = b.gated_delta(qkv, ab, rates, before, rule);
    y = b.rms_norm(y, b.vector(at + "norm.weight", own.dv), c.eps);
    y = b.glu(Activation::kSilu, z, y);
    return b.projection(y, at + "out_proj", c.hidden);
  }

  /// x times the rows of q_proj that are the heads' queries (0) or gates (1).
  ValueId part(ValueId x, const char* name, uint32_t which) {
    std::vector<ModelBuilder::Piece> rows;
    for (uint32_t head = 0; head < c.heads; ++head) {
      rows.push_back({p + "self_attn.q_proj.weight",
                      {(2 * head + which) * c.head_dim, c.head_dim, 2 * c.heads * c.head_dim}});
    }
    return b.projection(x, p + "self_attn." + name, rows);
  }

  ValueId turned(const char* norm_name, ValueId h) {
    return b.rotate(norm(norm_name, h, c.head_dim), c.head_dim, c.ropes[0], "rope");
  }

  ValueId attention(uint32_t layer, ValueId x) override {
    if (!own.full[layer]) return delta_rule(layer, x);
    const uint32_t kv = c.kv_heads * c.head_dim;
    ValueId q = part(x, "query", 0);
    ValueId k = b.projection(x, p + "self_attn.k_proj", kv);
    ValueId v = b.projection(x, p + "self_attn.v_proj", kv);
    ValueId gate = part(x, "gate", 1);
    q = turned("self_attn.q_norm", q);
    k = turned("self_attn.k_norm", k);
    ValueId o = b.cached_attention(layer, q, k, v, c.kv_heads, c.head_dim,
                                   {.scale = 1.0f / std::sqrt(float(c.head_dim))});
    o = b.glu(Activation::kSigmoid, gate, o);
    return b.projection(o, p + "self_attn.o_proj", c.hidden);
  }

  const Qwen35Config& own;
};

/// MLX keeps norms with their 1 added. The sign of its files is where it keeps the one channel of a
/// convolution: after the taps.
bool has_raised_norms(const TensorFile& file, const Qwen35Config& c) {
  for (uint32_t i = 0; i < c.layers; ++i) {
    const TensorInfo* const taps =
        file.find(fmt::format("{}layers.{}.linear_attn.conv1d.weight", decoder_prefix(file), i));
    if (taps != nullptr && taps->shape.size() == 3) return taps->shape[2] == 1;
  }
  return false;
}

}  // namespace

Result<Graph> decoder_graph(Qwen35Config c, const TensorFile& file, const BuildOptions& options) {
  if (has_raised_norms(file, c)) c.norm = NormKind::kRms;
  ModelBuilder builder(file, options, decoder_prefix(file));
  return DeltaDecoder(builder, c).build();
}

}  // namespace tokamak
