#include "model/dense_decoder.h"

#include <cmath>

#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {

Result<DenseConfig> read_dense(ConfigReader config, const DenseDefaults& defaults) {
  DenseConfig c{};
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads");
  c.kv_heads = config.size("num_key_value_heads",
                           defaults.kv_heads == 0 || config.mentions("num_key_value_heads")
                               ? c.heads
                               : defaults.kv_heads);
  c.head_dim = !config.has("head_dim") && defaults.head_dim != 0
                   ? defaults.head_dim
                   : read_head_dim(config, c.hidden, c.heads);
  c.ffn = config.size("intermediate_size");
  c.max_context = config.size("max_position_embeddings", defaults.max_context);
  c.eps = float(config.positive("rms_norm_eps", defaults.eps));
  c.tied = config.flag("tie_word_embeddings", false);
  c.activation = read_activation(config, "hidden_act", "silu");
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.kv_heads, c.head_dim));
  if (!config.flag("is_causal", true)) {
    return unsupported("{} is false; this engine runs this architecture with causal attention.",
                       config.path("is_causal"));
  }
  TOK_TRY(config.status());
  c.windows.assign(c.layers, 0);
  return c;
}

Result<void> read_dense_rope(ConfigReader config, DenseConfig& c) {
  const double theta = read_rope_field(config, "rope_theta", 10000.0);
  double part = read_rope_field(config, "partial_rotary_factor", 1.0);
  TOK_TRY(config.status());
  ConfigReader fields = rope_fields(config);
  part = fields.positive("partial_rotary_factor", part);
  c.rope = read_rope(fields, theta, c.head_dim, c.max_context);
  TOK_TRY(fields.status());
  if (part != 1.0) {
    return unsupported("{} is {}; this engine turns whole heads of this architecture.",
                       config.path("partial_rotary_factor"), part);
  }
  return {};
}

ModelFacts dense_facts(std::string_view architecture, const DenseConfig& config) {
  return {.architecture = std::string(architecture),
          .vocab = config.vocab,
          .layers = config.layers,
          .max_context = config.max_context,
          .hidden = config.hidden,
          .rope = config.rope};
}

ValueId DenseDecoder::norm(std::string_view name, ValueId x, uint32_t size) {
  return b.rms_norm(x, b.vector(fmt::format("{}{}.weight", p, name), size), c.eps);
}

DenseDecoder::Heads DenseDecoder::heads(ValueId x) {
  const uint32_t kv = c.kv_heads * c.head_dim;
  ValueId q = b.projection(x, p + "self_attn.q_proj", c.heads * c.head_dim, c.qkv_bias);
  ValueId k = b.projection(x, p + "self_attn.k_proj", kv, c.qkv_bias);
  ValueId v = b.projection(x, p + "self_attn.v_proj", kv, c.qkv_bias);
  return {q, k, v};
}

DenseDecoder::Heads DenseDecoder::normed_heads(ValueId x) {
  Heads h = DenseDecoder::heads(x);
  h.q = norm("self_attn.q_norm", h.q, c.head_dim);
  h.k = norm("self_attn.k_norm", h.k, c.head_dim);
  return h;
}

/// x: [T, hidden] -> [T, hidden]
ValueId DenseDecoder::attention(uint32_t layer, ValueId x) {
  auto [q, k, v] = heads(x);
  q = b.rotate(q, c.head_dim, c.rope, "rope");
  k = b.rotate(k, c.head_dim, c.rope, "rope");
  ValueId o = b.cached_attention(
      layer, q, k, v, c.kv_heads, c.head_dim,
      {.scale = 1.0f / std::sqrt(float(c.head_dim)), .window = c.windows[layer]});
  return b.projection(o, p + "self_attn.o_proj", c.hidden, c.output_bias);
}

ValueId DenseDecoder::gated(ValueId x) {
  ValueId gate = b.projection(x, p + "mlp.gate_proj", c.ffn, c.mlp_bias);
  ValueId up = b.projection(x, p + "mlp.up_proj", c.ffn, c.mlp_bias);
  return b.glu(c.activation, gate, up);
}

ValueId DenseDecoder::mlp(uint32_t, ValueId x) {
  return b.projection(gated(x), p + "mlp.down_proj", c.hidden, c.mlp_bias);
}

Result<Graph> DenseDecoder::build() {
  ValueId table = b.matrix("embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) {
    p = fmt::format("layers.{}.", i);
    x = b.add(x, attention(i, norm("input_layernorm", x, c.hidden)));
    x = b.add(x, mlp(i, norm("post_attention_layernorm", x, c.hidden)));
  }
  p = "";
  x = norm("norm", b.output_rows(x), c.hidden);
  if (b.embeds()) return b.finish_embedding(x);
  if (!c.tied) table = b.matrix("lm_head.weight", c.vocab, c.hidden);
  return b.finish(b.linear(x, table));
}

}  // namespace tokamak
