// Mistral and Mixtral.
#include "model/families.h"

namespace tokamak {

// Mistral. Reference: transformers/models/mistral/modeling_mistral.py; arXiv:2310.06825.
//
// Otherwise than in Llama there is a sliding window in every layer, unless config.json says null,
// and there are no biases.
Result<DecoderSpec> read_mistral(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "MistralForCausalLM", {.kv_heads = 8, .max_context = 131072}));
  const uint32_t window = config.size("sliding_window", 4096);
  TOK_TRY(config.status());
  if (config.has("sliding_window") || !config.mentions("sliding_window")) {
    c.windows.assign(c.layers, window);
  }
  if (config.has("layer_types")) {
    return unsupported("{} is given; all layers of this architecture are of one type.",
                       config.path("layer_types"));
  }
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace tokamak
