// StarCoder 2. Reference: transformers/models/starcoder2/modeling_starcoder2.py; arXiv:2402.19173.
//
// The differences from Llama:
//   layer norms; biases everywhere but of the logits; an MLP without a gate
//   one sliding window for all layers; the head is the embedding table
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_starcoder2(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "Starcoder2ForCausalLM",
                                      {.kv_heads = 2,
                                       .max_context = 4096,
                                       .eps = 1e-5,
                                       .eps_name = "norm_epsilon",
                                       .tied = true,
                                       .activation = "gelu_pytorch_tanh"}));
  c.norm = NormKind::kLayerBias;
  c.names.up = "mlp.c_fc";
  c.names.down = "mlp.c_proj";
  c.plain_mlp = true;
  c.qkv_bias = c.output_bias = c.mlp_bias = config.flag("use_bias", true);
  if (config.has("sliding_window")) c.windows.assign(c.layers, config.size("sliding_window"));
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace tokamak
