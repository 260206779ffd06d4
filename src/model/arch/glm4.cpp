// GLM-4 of 0414. Reference: transformers/models/glm4/modeling_glm4.py.
//
// The differences from Llama:
//   norms before and after both sub-blocks
//   neighbours turn together, in the first half of each head
//   gate and up are rows of one tensor
#include "model/families.h"

namespace tokamak {

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

}  // namespace tokamak
