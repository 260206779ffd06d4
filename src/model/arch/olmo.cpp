// OLMo 2 and OLMo 3. References: transformers/models/olmo2/modeling_olmo2.py and
// olmo3/modeling_olmo3.py; arXiv:2501.00656, 2512.13961.
//
// What differs from Llama:
//   norms after both sub-blocks, none before
//   q and k are normed as whole rows
//   OLMo 3: three layers of four have a sliding window; scaling of the rotary frequencies concerns
//   the full layers only
#include "model/families.h"

namespace tokamak {
namespace {

Result<DecoderSpec> read_olmo(ConfigReader config, std::string_view architecture) {
  TOK_TRY(DecoderSpec c, read_decoder(config, architecture, {.eps = 1e-5}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.head_norm = HeadNorm::kRows;
  c.norms.attention = c.norms.mlp = "";
  c.norms.attention_after = "post_attention_layernorm";
  c.norms.mlp_after = "post_feedforward_layernorm";
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace

Result<DecoderSpec> read_olmo2(ConfigReader config) {
  return read_olmo(config, "Olmo2ForCausalLM");
}

}  // namespace tokamak
