// LFM2. Reference: transformers/models/lfm2/modeling_lfm2.py and configuration_lfm2.py;
// arXiv:2511.23404.
//
// The differences from Llama:
//   most layers have no attention but a gated short convolution: out(C * conv(B * x)), where B, C
//   and x are parts of one projection, and its state is the last rows of B * x
//   the others norm q and k per head; the norm after the last layer is called embedding_norm
//   the size of the MLP is two thirds of what the config says, rounded up, unless it says not to
#include "model/arch/lfm2.h"

#include <cmath>

#include "model/arch.h"
#include "model/arch/layer.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"
#include "model/voice.h"

namespace tokamak {
namespace {

/// block_ff_dim is the older name; the adjustment is Lfm2MLP's, in its arithmetic.
uint32_t read_ffn(ConfigReader& config) {
  const char* const name = config.has("block_ff_dim") ? "block_ff_dim" : "intermediate_size";
  double size = config.size(name);
  const double multiple = config.size("block_multiple_of", 256);
  const double factor = config.positive("block_ffn_dim_multiplier", 1.0);
  if (config.flag("block_auto_adjust_ff_dim", true)) {
    size = std::floor(2 * size / 3);
    const bool is_null =
        config.mentions("block_ffn_dim_multiplier") && !config.has("block_ffn_dim_multiplier");
    if (!is_null) size = std::ceil(std::floor(factor * size) / multiple) * multiple;
  }
  if (size >= 1 && size <= INT32_MAX) return uint32_t(size);
  config.reject(
      {ErrorCode::kInvalidInput, fmt::format("{} and the block_ fields make an MLP of {} elements.",
                                             config.path(name), size)});
  return 1;
}

}  // namespace

Result<Lfm2Config> read_lfm2(ConfigReader config) {
  Lfm2Config c{};
  c.architecture = "Lfm2ForCausalLM";
  // The defaults are Lfm2Config's.
  c.vocab = config.size("vocab_size", 65536);
  c.hidden = config.size("hidden_size", 2560);
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads", 32);
  c.kv_heads = config.size("num_key_value_heads", 8);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  c.ffn = read_ffn(config);
  c.max_context = config.size("max_position_embeddings", 128000);
  c.eps = float(config.positive("norm_eps", 1e-5));
  c.taps = read_taps(config, "conv_L_cache", 3);
  c.conv_bias = config.flag("conv_bias", false);
  c.tied = config.flag("tie_embedding", config.flag("tie_word_embeddings", true));
  const double theta = read_rope_field(config, "rope_theta", 1e6);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.kv_heads, c.head_dim));
  TOK_TRY(c.full, read_listed_layers(config, c.layers, "conv"));
  ConfigReader fields = rope_fields(config);
  c.rope = read_rope(fields, theta, c.head_dim, c.max_context);
  TOK_TRY(fields.status());
  return c;
}

namespace {

struct Layer : LayerBase<Lfm2Config> {
  /// Part `n` of B, C and x.
  ValueId part(ValueId x, uint32_t n) {
    return b.projection(x, p + "conv.in_proj",
                        {.first = n * c.hidden, .count = c.hidden, .of = 3 * c.hidden},
                        c.conv_bias);
  }

  ValueId convolution(ValueId x) {
    ValueId before = part(x, 0);
    ValueId value = part(x, 2);
    value = b.glu(Activation::kIdentity, before, value);
    value =
        b.convolution(index, value, p + "conv.conv", c.taps, Activation::kIdentity, c.conv_bias);
    ValueId after = part(x, 1);
    value = b.glu(Activation::kIdentity, after, value);
    return b.projection(value, p + "conv.out_proj", c.hidden, c.conv_bias);
  }

  ValueId heads(const char* projection, const char* norm_name, ValueId x, uint32_t n) {
    ValueId h = b.projection(x, p + projection, n * c.head_dim);
    h = norm(norm_name, h, c.head_dim);
    if (c.own_angles) return b.rotate_by_row(h, c.head_dim, voice_angles(index), c.head_dim);
    return b.rotate(h, c.head_dim, c.rope, "rope");
  }

  ValueId attention(ValueId x) {
    ValueId q = heads("self_attn.q_proj", "self_attn.q_layernorm", x, c.heads);
    ValueId k = heads("self_attn.k_proj", "self_attn.k_layernorm", x, c.kv_heads);
    ValueId v = b.projection(x, p + "self_attn.v_proj", c.kv_heads * c.head_dim);
    ValueId o = b.cached_attention(index, q, k, v, c.kv_heads, c.head_dim,
                                   {.scale = 1.0f / std::sqrt(float(c.head_dim))});
    return b.projection(o, p + "self_attn.out_proj", c.hidden);
  }

  ValueId mlp(ValueId x) {
    if (c.mixture && c.mixture->sparse[index]) {
      return routed_experts(b, p, *c.mixture, Activation::kSilu, x);
    }
    ValueId gate = b.projection(x, p + "feed_forward.w1", c.ffn);
    ValueId up = b.projection(x, p + "feed_forward.w3", c.ffn);
    ValueId gated = b.glu(Activation::kSilu, gate, up);
    return b.projection(gated, p + "feed_forward.w2", c.hidden);
  }

  ValueId operator()(ValueId x) {
    ValueId normed = norm("operator_norm", x, c.hidden);
    x = b.add(x, c.full[index] ? attention(normed) : convolution(normed));
    return b.add(x, mlp(norm("ffn_norm", x, c.hidden)));
  }
};

}  // namespace

Result<Graph> decoder_graph(const Lfm2Config& c, const TensorFile& file,
                            const BuildOptions& options) {
  ModelBuilder b(file, options, "model.");
  ValueId table = b.matrix("embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = Layer{{b, c, i}}(x);
  x = b.rms_norm(b.output_rows(x), b.vector("embedding_norm.weight", c.hidden), c.eps);
  if (!c.tied) table = b.matrix("lm_head.weight", c.vocab, c.hidden);
  return b.finish_logits(b.linear(x, table));
}

ModelFacts facts_of(const Lfm2Config& c) {
  return ModelFacts{std::string(c.architecture), c.vocab, c.layers, c.max_context};
}

}  // namespace tokamak
