// Llama. Reference: transformers/models/llama/modeling_llama.py; arXiv:2302.13971, 2407.21783.
//
//   pre-norms; rotary halves; grouped-query attention over all positions; gated SiLU MLP
//   biases, head_dim and tying as config.json says; llama3 scaling of the rotary frequencies
#include <cmath>

#include "model/arch.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config {
  uint32_t vocab, hidden, layers, heads, kv_heads, head_dim, ffn, max_context;
  float eps;
  bool attention_bias, mlp_bias, tied;
  Activation activation;
  RopeTable rope;
};

Result<Config> read(ConfigReader config) {
  Config c{};
  c.vocab = config.size("vocab_size");
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads");
  c.kv_heads = config.size("num_key_value_heads", c.heads);
  c.head_dim = read_head_dim(config, c.hidden, c.heads);
  c.ffn = config.size("intermediate_size");
  c.max_context = config.size("max_position_embeddings", 2048);
  c.eps = float(config.positive("rms_norm_eps", 1e-6));
  c.attention_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  c.tied = config.flag("tie_word_embeddings", false);
  c.activation = read_activation(config, "hidden_act", "silu");
  const double theta = config.positive("rope_theta", 10000.0);
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.kv_heads, c.head_dim));
  ConfigReader rope = config.at(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  c.rope = read_rope(rope, theta, c.head_dim);
  TOK_TRY(rope.status());
  return c;
}

struct Layer {
  ModelBuilder& b;
  const Config& c;
  uint32_t index;
  std::string p = fmt::format("layers.{}.", index);

  ValueId norm(const char* name, ValueId x) {
    return b.rms_norm(x, b.vector(p + name + ".weight", c.hidden), c.eps);
  }

  /// x: [T, hidden] -> [T, hidden]
  ValueId attention(ValueId x) {
    const uint32_t kv = c.kv_heads * c.head_dim;
    ValueId q = b.projection(x, p + "self_attn.q_proj", c.heads * c.head_dim, c.attention_bias);
    ValueId k = b.projection(x, p + "self_attn.k_proj", kv, c.attention_bias);
    ValueId v = b.projection(x, p + "self_attn.v_proj", kv, c.attention_bias);
    q = b.rotate(q, c.head_dim, c.rope, "rope");
    k = b.rotate(k, c.head_dim, c.rope, "rope");
    ValueId o = b.cached_attention(index, q, k, v, c.kv_heads, c.head_dim,
                                   {.scale = 1.0f / std::sqrt(float(c.head_dim))});
    return b.projection(o, p + "self_attn.o_proj", c.hidden, c.attention_bias);
  }

  ValueId mlp(ValueId x) {
    ValueId gate = b.projection(x, p + "mlp.gate_proj", c.ffn, c.mlp_bias);
    ValueId up = b.projection(x, p + "mlp.up_proj", c.ffn, c.mlp_bias);
    ValueId gated = b.glu(c.activation, gate, up);
    return b.projection(gated, p + "mlp.down_proj", c.hidden, c.mlp_bias);
  }

  ValueId operator()(ValueId x) {
    x = b.add(x, attention(norm("input_layernorm", x)));
    return b.add(x, mlp(norm("post_attention_layernorm", x)));
  }
};

}  // namespace

Result<ModelFacts> llama_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return ModelFacts{"LlamaForCausalLM", c.vocab, c.layers, c.max_context};
}

Result<Graph> build_llama(const ConfigReader& config, const TensorFile& file,
                          const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  ModelBuilder b(file, options, "model.");
  ValueId table = b.matrix("embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embed(b.token_ids(), table);
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = Layer{b, c, i}(x);
  x = b.rms_norm(b.output_rows(x), b.vector("norm.weight", c.hidden), c.eps);
  if (!c.tied) table = b.matrix("lm_head.weight", c.vocab, c.hidden);
  return b.finish(b.linear(x, table));
}

}  // namespace tokamak
