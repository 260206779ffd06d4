// StableLM 3B and StableLM 2 1.6B. Reference: transformers/models/stablelm/modeling_stablelm.py.
//
// The differences from Llama:
//   layer norms with biases; q, k and v may have biases
//   a quarter of each head turns
//   attention and MLP may read the same norm
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_stablelm(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "StableLmForCausalLM",
                       {.max_context = 4096, .eps = 1e-5, .eps_name = "layer_norm_eps"}));
  c.norm = NormKind::kLayerBias;
  c.qkv_bias = config.flag("use_qkv_bias", false);
  c.parallel = config.flag("use_parallel_residual", false);
  if (c.parallel) c.norms.mlp = "";
  TOK_TRY(refuse_flag(config, "qk_layernorm", "without norms of heads"));
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, 0.25));
  return c;
}

}  // namespace tokamak
