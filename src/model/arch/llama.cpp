// Llama, and families that differ from it in a field or two.
#include "model/families.h"

namespace tokamak {

// Llama, SmolLM and others of this shape. Reference: transformers/models/llama/modeling_llama.py;
// arXiv:2302.13971, 2407.21783.
//
// The decoder as it is: biases, head_dim, tying and llama3 scaling as config.json says.
Result<DecoderSpec> read_llama(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "LlamaForCausalLM", {}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  if (config.flag("rope_interleaved", false)) {  // SmolLM's files say false
    return unsupported("{} is true; this engine turns halves, not neighbours.",
                       config.path("rope_interleaved"));
  }
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace tokamak
