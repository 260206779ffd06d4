// OLMo 2 and OLMo 3. References: transformers/models/olmo2/modeling_olmo2.py and
// olmo3/modeling_olmo3.py; arXiv:2501.00656, 2512.13961.
//
// The differences from Llama:
//   norms after both sub-blocks, none before
//   q and k are normed as whole rows
//   OLMo 3: three layers of four have a sliding window; scaling of the rotary frequencies concerns
//   the full layers only
#include "model/families.h"
#include "model/rope_config.h"

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

Result<DecoderSpec> read_olmo3(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_olmo(config, "Olmo3ForCausalLM"));
  TOK_TRY(const std::vector<bool> full, read_windows(config, c, 4));
  ConfigReader fields = rope_fields(config);
  const double theta =
      fields.positive("rope_theta", read_rope_field(config, "rope_theta", 10000.0));
  TOK_TRY(fields.status());
  TOK_TRY(config.status());
  const Json plain{Json::Object{}};
  ConfigReader none(plain, config.where());
  c.ropes.push_back(read_rope(none, theta, c.head_dim, c.max_context));
  for (const bool is_full : full) c.rope_of.push_back(is_full ? 0 : 1);
  return c;
}

}  // namespace tokamak
