// Qwen3.5, dense (text, also inside the multimodal checkpoint). Reference:
// transformers/models/qwen3_5/modeling_qwen3_5.py and configuration_qwen3_5.py.
//
// What differs from Llama:
//   three layers of four have no attention but the gated delta rule (arXiv:2412.06464) after a
//   short convolution; its output is normed per head, with a plain weight, and gated by silu(z)
//   attention is gated by a sigmoid: q_proj holds, per head, the query and then the gate's rows
//   q and k are normed per head and turned in their first part only; norms are stored as w - 1
// The multi-axis rotary positions of images are the ordinary ones for text. The vision tower and
// the layers that predict further tokens (mtp) take no part.
#include <cmath>

#include "model/decoder_fields.h"
#include "model/dense_decoder.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config : DenseConfig {
  uint32_t key_heads, value_heads, dk, dv, taps;  // of the delta rule
  bool from_gguf;                                 // how value heads and rates are stored
  std::vector<bool> full;                         // per layer: attention
};

Result<void> read_delta(ConfigReader& config, Config& c) {
  const auto size = [&](const char* name, uint32_t otherwise) {
    constexpr uint32_t kMax = 1024;
    const uint32_t found = config.size(name, otherwise);
    if (found <= kMax) return found;
    config.reject({ErrorCode::kInvalidInput,
                   fmt::format("{} is {}, expected at most {}.", config.path(name), found, kMax)});
    return kMax;
  };
  c.key_heads = size("linear_num_key_heads", 16);
  c.value_heads = size("linear_num_value_heads", 32);
  c.dk = size("linear_key_head_dim", 128);
  c.dv = size("linear_value_head_dim", 128);
  c.taps = read_taps(config, "linear_conv_kernel_dim", 4);
  c.from_gguf = config.flag("linear_attention_as_gguf", false);
  TOK_TRY(config.status());
  if (c.value_heads % c.key_heads == 0) return {};
  return invalid_input("{} ({}) is not a multiple of linear_num_key_heads ({}).",
                       config.path("linear_num_value_heads"), c.value_heads, c.key_heads);
}

Result<Config> read(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Config c{};
  TOK_TRY(static_cast<DenseConfig&>(c),
          read_dense(config, {.kv_heads = 4, .head_dim = 256, .max_context = 32768}));
  c.tied = read_tied(whole, config, false);
  for (const char* const name : {"attention_bias", "attn_output_gate"}) {
    const bool expected = std::string_view(name) == "attn_output_gate";
    if (config.flag(name, expected) != expected) {
      return unsupported("{} is {}; this engine runs Qwen3.5 with {}.", config.path(name),
                         !expected, expected);
    }
  }
  const uint32_t period = config.size("full_attention_interval", 4);
  const double theta = read_rope_field(config, "rope_theta", 10000.0);
  ConfigReader fields = rope_fields(config);
  const double part = fields.positive("partial_rotary_factor",
                                      read_rope_field(config, "partial_rotary_factor", 0.25));
  TOK_TRY(read_delta(config, c));
  TOK_TRY(c.full, read_full_layers(config, c.layers, period, "linear_attention"));
  TOK_TRY(const uint32_t rotary, rotary_size(config, part, c.head_dim));
  c.rope = read_rope(fields, theta, rotary, c.max_context);
  TOK_TRY(fields.status());
  return c;
}

struct Decoder : DenseDecoder {
  Decoder(ModelBuilder& builder, const Config& config)
      : DenseDecoder(builder, config), own(config) {}

  ValueId norm(std::string_view name, ValueId x, uint32_t size) override {
    return b.rms_norm(x, b.vector(fmt::format("{}{}.weight", p, name), size, true), c.eps);
  }

  /// x: [T, hidden] -> [T, hidden]
  ValueId delta_rule(uint32_t layer, ValueId x) {
    const std::string at = p + "linear_attn.";
    const uint32_t h = own.value_heads, width = 2 * own.key_heads * own.dk + h * own.dv;
    ValueId qkv = b.projection(x, at + "in_proj_qkv", width);
    ValueId z = b.projection(x, at + "in_proj_z", h * own.dv);
    ValueId ab =
        b.projection(x, at + "in_proj_ab",
                     {{at + "in_proj_a.weight", {0, h, h}}, {at + "in_proj_b.weight", {0, h, h}}});
    ValueId rates = b.vectors(at + "rates", {at + "A_log", at + "dt_bias"}, h);
    qkv = b.convolution(layer, qkv, at + "conv1d", own.taps, Activation::kSilu);
    ValueId before = b.state(fmt::format("delta.{}", layer), {h, own.dk, own.dv}, DType::kF32);
    const GatedDelta rule{own.key_heads, own.from_gguf, own.from_gguf};
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
    return b.rotate(norm(norm_name, h, c.head_dim), c.head_dim, c.rope, "rope");
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

  const Config& own;
};

}  // namespace

Result<ModelFacts> qwen3_5_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return dense_facts("Qwen3_5ForCausalLM", c);
}

Result<Graph> build_qwen3_5(const ConfigReader& config, const TensorFile& file,
                            const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"model.", "model.language_model.", "language_model.model."}));
  return build_dense<Decoder>(c, file, options, prefix);
}

}  // namespace tokamak
