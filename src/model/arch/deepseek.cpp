// DeepSeek V2 and what has its attention. The differences from Llama:
//   q, and k and v, are products of low rank, normed between; k and v of all heads are made of one
//     latent, which is what the cache holds: k's product is moved to q, v's to what is attended
//   a head's key has a part without a position, and one that turns and that all heads share
//   YaRN scales the scores, too
//   experts, one of which every token takes, from some layer on
#include "model/arch/deepseek.h"

namespace tokamak {
namespace {

/// The eps of norms between products of low rank, whatever that of the others is.
constexpr float kInnerEps = 1e-6f;

struct LatentDecoder : TextDecoder {
  LatentDecoder(ModelBuilder& builder, const LatentSpec& spec)
      : TextDecoder(builder, spec), c(spec) {}

  ValueId attention(uint32_t layer, ValueId x) override {
    const std::string name = p + "self_attn.";
    ValueId q = x;
    if (c.q_rank != 0) {
      q = b.projection(x, name + "q_a_proj", c.q_rank);
      q = b.rms_norm(q, b.vector(name + "q_a_layernorm.weight", c.q_rank), kInnerEps);
    }
    const std::string q_name = name + (c.q_rank != 0 ? "q_b_proj" : "q_proj");
    const uint32_t head = c.still + c.turned, width = c.kv_rank + c.turned;
    const ValueId still = b.projection(q, q_name + ".still", of_heads(q_name, 0, c.still, head));
    ValueId turned = b.projection(q, q_name + ".turned", of_heads(q_name, c.still, c.turned, head));

    const std::string kv_name = name + "kv_a_proj_with_mqa";
    ModelBuilder::Rows rows{.first = 0, .count = c.kv_rank, .of = width};
    ValueId latent = b.projection(x, kv_name, rows);
    latent = b.rms_norm(latent, b.vector(name + "kv_a_layernorm.weight", c.kv_rank), kInnerEps);
    rows = {.first = c.kv_rank, .count = c.turned, .of = width};
    ValueId key = b.projection(x, kv_name, rows);

    turned = b.rotate(turned, c.turned, c.ropes[0], "rope");
    key = b.rotate(key, c.turned, c.ropes[0], "rope");
    const ValueId query = query_of(still);
    const ValueId seen = b.latent_attention(layer, {latent, key}, query, turned, c.score_scale);
    return b.projection(value_of(seen), name + "o_proj", c.hidden);
  }

  /// The same rows of each head.
  std::vector<ModelBuilder::Piece> of_heads(const std::string& name, uint32_t first, uint32_t count,
                                            uint32_t of) const {
    std::vector<ModelBuilder::Piece> pieces;
    for (uint32_t head = 0; head < c.heads && b.ok(); ++head) {
      pieces.push_back({name + ".weight", {head * of + first, count, c.heads * of}});
    }
    return pieces;
  }
  /// Whether the two halves of kv_b_proj are tensors of their own, that of keys transposed.
  bool is_split() const { return b.has(p + "self_attn.embed_q.weight"); }

  /// [T, heads * still] -> [T, heads * kv_rank]
  ValueId query_of(ValueId still) {
    const std::string name = p + "self_attn.";
    if (is_split()) {
      const ValueId w = b.stacked(name + "embed_q.weight", c.heads,
                                  {.first = 0, .count = c.kv_rank, .of = c.kv_rank}, c.still);
      return b.head_linear(still, w, {.heads = c.heads});
    }
    const auto pieces = of_heads(name + "kv_b_proj", 0, c.still, c.still + c.value);
    const ValueId w = b.matrix(name + "kv_b_proj.keys", pieces, c.kv_rank);
    return b.head_linear(still, w, {.heads = c.heads, .transposed = true});
  }
  /// [T, heads * kv_rank] -> [T, heads * value]
  ValueId value_of(ValueId seen) {
    const std::string name = p + "self_attn.";
    if (is_split()) {
      const ValueId w = b.stacked(name + "unembed_out.weight", c.heads,
                                  {.first = 0, .count = c.value, .of = c.value}, c.kv_rank);
      return b.head_linear(seen, w, {.heads = c.heads});
    }
    const auto pieces = of_heads(name + "kv_b_proj", c.still, c.value, c.still + c.value);
    const ValueId w = b.matrix(name + "kv_b_proj.values", pieces, c.kv_rank);
    return b.head_linear(seen, w, {.heads = c.heads});
  }

  const LatentSpec& c;
};

/// The file with what turns in the order of halves.
Result<TensorFile> in_halves(const TensorFile& file, const LatentSpec& c) {
  return with_marks(file, [&](TensorInfo& tensor) {
    const bool is_q = tensor.name.find(".self_attn.q_proj.") != std::string::npos ||
                      tensor.name.find(".self_attn.q_b_proj.") != std::string::npos;
    const bool is_kv = tensor.name.find(".self_attn.kv_a_proj_with_mqa.") != std::string::npos;
    if (!is_q && !is_kv) return;
    tensor.rope_heads = is_q ? c.heads : 1;
    tensor.turned = c.turned;
  });
}

}  // namespace

Result<Graph> decoder_graph(const LatentSpec& c, const TensorFile& file,
                            const BuildOptions& options) {
  if (!c.neighbours) {
    ModelBuilder builder(file, options, decoder_prefix(file));
    return LatentDecoder(builder, c).build();
  }
  TOK_TRY(const TensorFile ordered, in_halves(file, c));
  ModelBuilder builder(ordered, options, decoder_prefix(ordered));
  return LatentDecoder(builder, c).build();
}

}  // namespace tokamak
