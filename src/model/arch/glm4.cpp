// GLM-4 of 0414, and GLM-4.5 to 4.7.
#include "model/families.h"

namespace tokamak {

// GLM-4 of 0414. Reference: transformers/models/glm4/modeling_glm4.py.
//
// The differences from Llama:
//   norms before and after both sub-blocks
//   neighbours turn together, in the first half of each head
//   gate and up are rows of one tensor
Result<DecoderSpec> read_glm4(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Glm4ForCausalLM",
                       {.kv_heads = 2, .head_dim = 128, .max_context = 131072, .eps = 1.5625e-7}));
  c.qkv_bias = config.flag("attention_bias", false);
  c.joined_gate_up = c.pairs = true;
  c.norms.attention_after = "post_self_attn_layernorm";
  c.norms.mlp_after = "post_mlp_layernorm";
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, 0.5));
  return c;
}

// GLM-4.5 to 4.7. Reference: transformers/models/glm4_moe/modeling_glm4_moe.py; arXiv:2508.06471.
//
// The differences from Llama:
//   half of each head turns, and q and k may be normed
//   DeepSeek V3's experts in all but the first layers
Result<DecoderSpec> read_glm4_moe(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "Glm4MoeForCausalLM",
                                      {.kv_heads = 8, .max_context = 131072, .eps = 1e-5}));
  c.qkv_bias = config.flag("attention_bias", false);
  if (config.flag("use_qk_norm", false)) c.head_norm = HeadNorm::kHeads;
  Mixture mixture{.sizes = {},
                  .route = {},
                  .sparse = {},
                  .route_bias = "mlp.gate.e_score_correction_bias",
                  .shared_expert = "mlp.shared_experts."};
  TOK_TRY(mixture.sizes, read_experts(config, "n_routed_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 128, .top_k = 8, .ffn = 1408}));
  TOK_TRY(mixture.route, read_sigmoid_route(config, mixture.sizes.experts));
  mixture.shared = config.count("n_shared_experts", 1) * mixture.sizes.ffn;
  const uint32_t dense = config.count("first_k_dense_replace", 1);
  for (uint32_t i = 0; i < c.layers; ++i) mixture.sparse.push_back(i >= dense);
  c.mixture = std::move(mixture);
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, 0.5));
  return c;
}

}  // namespace tokamak
