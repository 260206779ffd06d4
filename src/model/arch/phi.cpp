// Phi-1, Phi-1.5 and Phi-2. Reference: transformers/models/phi/modeling_phi.py.
//
// The differences from Llama:
//   layer norms and biases everywhere, of the logits too; an MLP without a gate
//   attention and MLP read the same norm, and both are added to x
//   a part of each head turns
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_phi(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "PhiForCausalLM",
                       {.eps = 1e-5, .eps_name = "layer_norm_eps", .activation = "gelu_new"}));
  c.norm = NormKind::kLayerBias;
  c.norms.mlp = "";
  c.names = {
      .norm = "final_layernorm", .output = "self_attn.dense", .up = "mlp.fc1", .down = "mlp.fc2"};
  c.parallel = c.plain_mlp = c.qkv_bias = c.output_bias = c.mlp_bias = c.head_bias = true;
  TOK_TRY(refuse_flag(config, "qk_layernorm", "without norms of heads"));
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, 0.5));
  return c;
}

}  // namespace tokamak
