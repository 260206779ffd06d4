// Gemma 2. Reference: transformers/models/gemma2/modeling_gemma2.py; arXiv:2408.00118.
//
// The differences from Llama:
//   embeddings are scaled by sqrt(hidden), in f32 (a bf16 run of the reference would round it)
//   norms before and after both sub-blocks, stored as w - 1
//   every second layer, from the first on, has a sliding window
//   GELU(tanh) gate; caps on scores and logits; the head is the embedding table
#include <cmath>

#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

/// Null is no cap, and silence the default.
float cap(ConfigReader& config, std::string_view name, float otherwise) {
  return config.mentions(name) ? read_cap(config, name) : otherwise;
}

/// The common part of Gemma and Gemma 2.
Result<DecoderSpec> read_first_gemmas(ConfigReader& config, std::string_view architecture,
                                      uint32_t kv_heads) {
  TOK_TRY(DecoderSpec c, read_decoder(config, architecture,
                                      {.kv_heads = kv_heads,
                                       .head_dim = 256,
                                       .max_context = 8192,
                                       .tied = true,
                                       .activation_name = "hidden_activation",
                                       .activation = "gelu_pytorch_tanh"}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.norm = NormKind::kRmsLessOne;
  c.embedding_factor = std::sqrt(float(c.hidden));
  return c;
}

}  // namespace

// Gemma. Reference: transformers/models/gemma/modeling_gemma.py; arXiv:2403.08295.
//
// Otherwise than in Llama embeddings are scaled, norms stored as w - 1, the gate is GELU(tanh)
// whatever hidden_act is in older files, and the head is the embedding table.
Result<DecoderSpec> read_gemma(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_first_gemmas(config, "GemmaForCausalLM", 0));
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

Result<DecoderSpec> read_gemma2(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_first_gemmas(config, "Gemma2ForCausalLM", 4));
  c.norms.attention_after = "post_attention_layernorm";
  c.norms.mlp = "pre_feedforward_layernorm";
  c.norms.mlp_after = "post_feedforward_layernorm";
  c.score_scale = float(1.0 / std::sqrt(config.positive("query_pre_attn_scalar", 256.0)));
  c.score_cap = cap(config, "attn_logit_softcapping", 50.0f);
  c.logits_cap = cap(config, "final_logit_softcapping", 30.0f);
  TOK_TRY(refuse_flag(config, "use_bidirectional_attention", "with causal attention"));
  TOK_TRY(config.status());
  TOK_TRY(read_windows(config, c, 2));
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace tokamak
