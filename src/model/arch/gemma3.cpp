// Gemma 3 (text, also inside the multimodal checkpoint). Reference:
// transformers/models/gemma3/modeling_gemma3.py; arXiv:2503.19786.
//
// The differences from Llama:
//   embeddings are scaled by sqrt(hidden), in f32 (a bf16 run of the reference would round it)
//   norms before and after both sub-blocks, stored as w - 1; q and k are normed per head
//   sliding-window layers with their own theta, a full layer in every sixth place or as layer_types
//   says; scaling of the rotary frequencies concerns the full layers only
//   GELU(tanh) gate; optional caps on scores and logits; the head is the embedding table
//   EmbeddingGemma (arXiv:2509.20354): attention both ways, over windows of half the size
#include <cmath>

#include "model/arch.h"
#include "model/arch/layer.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

struct Config {
  uint32_t vocab, hidden, layers, heads, kv_heads, head_dim, ffn, max_context, window;
  float eps, scale, score_cap, logit_cap;
  bool bias, tied, causal;
  Activation activation;
  std::vector<bool> full;  // per layer
  RopeTable rope_full, rope_sliding;
};

Result<void> read_ropes(ConfigReader& config, Config& c) {
  const double theta = config.positive("rope_theta", 1e6);
  const double local = config.positive("rope_local_base_freq", 1e4);
  const ConfigReader parameters = config.at("rope_parameters");
  const ConfigReader scaling = config.at("rope_scaling");
  ConfigReader full = parameters.at("full_attention");
  ConfigReader sliding = parameters.at("sliding_attention");
  TOK_TRY(parameters.status());
  TOK_TRY(scaling.status());
  TOK_TRY(full.status());
  c.rope_sliding = read_rope(sliding, local, c.head_dim, c.max_context);
  TOK_TRY(sliding.status());
  if (!config.has("rope_scaling")) {
    c.rope_full = read_rope(full, theta, c.head_dim, c.max_context);
    return full.status();
  }
  const Json both = overwritten(parameters.find("full_attention"), *config.find("rope_scaling"));
  ConfigReader scaled(both, config.has("rope_parameters")
                                ? fmt::format("{}, rope_scaling", full.where())
                                : scaling.where());
  c.rope_full = read_rope(scaled, theta, c.head_dim, c.max_context);
  return scaled.status();
}

Result<Config> read(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  Config c{};
  // The defaults are Gemma3TextConfig's: released checkpoints leave fields out.
  c.vocab = config.size("vocab_size", 262208);
  c.hidden = config.size("hidden_size");
  c.layers = read_layers(config);
  c.heads = config.size("num_attention_heads", 8);
  c.kv_heads = config.size("num_key_value_heads", 4);
  c.head_dim = config.size("head_dim", 256);
  c.ffn = config.size("intermediate_size");
  c.max_context = config.size("max_position_embeddings", 131072);
  c.window = config.size("sliding_window", 4096);
  c.eps = float(config.positive("rms_norm_eps", 1e-6));
  c.scale = float(1.0 / std::sqrt(config.positive("query_pre_attn_scalar", 256.0)));
  c.score_cap = read_cap(config, "attn_logit_softcapping");
  c.logit_cap = read_cap(config, "final_logit_softcapping");
  c.bias = config.flag("attention_bias", false);
  c.tied = read_tied(whole, config, true);
  c.activation = read_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  c.causal = !config.flag("use_bidirectional_attention", false);
  if (!c.causal) c.window = c.window / 2 + 1;
  const uint32_t period =
      config.size("sliding_window_pattern", config.size("_sliding_window_pattern", 6));
  TOK_TRY(config.status());
  TOK_TRY(check_heads(config, c.heads, c.kv_heads, c.head_dim));
  TOK_TRY(c.full, read_full_layers(config, c.layers, period));
  TOK_TRY(read_ropes(config, c));
  TOK_TRY(config.status());
  return c;
}

struct Layer : LayerBase<Config, true> {
  /// x: [T, hidden] -> [T, n * head_dim], normed per head and rotated.
  ValueId heads(const char* projection, const char* norm_name, ValueId x, uint32_t n) {
    ValueId h = b.projection(x, p + projection, n * c.head_dim, c.bias);
    h = norm(norm_name, h, c.head_dim);
    return c.full[index] ? b.rotate(h, c.head_dim, c.rope_full, "rope.full")
                         : b.rotate(h, c.head_dim, c.rope_sliding, "rope.sliding");
  }

  ValueId attention(ValueId x) {
    ValueId q = heads("self_attn.q_proj", "self_attn.q_norm", x, c.heads);
    ValueId k = heads("self_attn.k_proj", "self_attn.k_norm", x, c.kv_heads);
    ValueId v = b.projection(x, p + "self_attn.v_proj", c.kv_heads * c.head_dim, c.bias);
    ValueId o = b.cached_attention(index, q, k, v, c.kv_heads, c.head_dim,
                                   {.scale = c.scale,
                                    .window = c.full[index] ? 0 : c.window,
                                    .softcap = c.score_cap,
                                    .causal = c.causal});
    return b.projection(o, p + "self_attn.o_proj", c.hidden, c.bias);
  }

  ValueId mlp(ValueId x) {
    ValueId gate = b.projection(x, p + "mlp.gate_proj", c.ffn);
    ValueId up = b.projection(x, p + "mlp.up_proj", c.ffn);
    ValueId gated = b.glu(c.activation, gate, up);
    return b.projection(gated, p + "mlp.down_proj", c.hidden);
  }

  ValueId operator()(ValueId x) {
    ValueId a = attention(norm("input_layernorm", x, c.hidden));
    x = b.add(x, norm("post_attention_layernorm", a, c.hidden));
    ValueId f = mlp(norm("pre_feedforward_layernorm", x, c.hidden));
    return b.add(x, norm("post_feedforward_layernorm", f, c.hidden));
  }
};

}  // namespace

Result<ModelFacts> gemma3_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return ModelFacts{"Gemma3ForCausalLM", c.vocab, c.layers, c.max_context, c.hidden, c.causal};
}

Result<Graph> build_gemma3(const ConfigReader& config, const TensorFile& file,
                           const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  TOK_TRY(const std::string prefix,
          find_prefix(file, {"model.", "language_model.model.", "model.language_model.", ""}));
  ModelBuilder b(file, options, prefix);
  ValueId table = b.matrix("embed_tokens.weight", c.vocab, c.hidden);
  ValueId x = b.embedded(table, std::sqrt(float(c.hidden)));
  for (uint32_t i = 0; i < c.layers && b.ok(); ++i) x = Layer{{b, c, i}}(x);
  x = b.rms_norm(b.output_rows(x), b.vector("norm.weight", c.hidden, true), c.eps);
  if (b.embeds()) return b.finish_embedding(x);
  if (!c.tied) table = b.matrix("lm_head.weight", c.vocab, c.hidden);
  ValueId logits = b.linear(x, table);
  return b.finish_logits(c.logit_cap > 0 ? b.softcap(logits, c.logit_cap) : logits);
}

}  // namespace tokamak
