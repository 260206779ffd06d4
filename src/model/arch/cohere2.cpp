// Command R, Command R7B and Command A. References: transformers/models/cohere/modeling_cohere.py,
// cohere2/modeling_cohere2.py.
//
// The differences from Llama:
//   attention and MLP read the same norm, a layer norm without a bias
//   neighbours turn together; since R7B in layers with a sliding window, and those without have no
//   positions
//   logits have a factor; the head is the embedding table
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {
namespace {

Result<DecoderSpec> read_both(ConfigReader config, std::string_view architecture) {
  TOK_TRY(
      DecoderSpec c,
      read_decoder(config, architecture,
                   {.max_context = 8192, .eps = 1e-5, .eps_name = "layer_norm_eps", .tied = true}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.norm = NormKind::kLayer;
  c.parallel = c.pairs = true;
  c.norms.mlp = "";
  c.logits_factor = float(config.positive("logit_scale", 0.0625));
  TOK_TRY(refuse_flag(config, "use_qk_norm", "without norms of heads"));
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

}  // namespace

Result<DecoderSpec> read_cohere(ConfigReader config) {
  return read_both(config, "CohereForCausalLM");
}

Result<DecoderSpec> read_cohere2(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_both(config, "Cohere2ForCausalLM"));
  const uint32_t period =
      config.size("sliding_window_pattern", config.size("_sliding_window_pattern", 4));
  TOK_TRY(config.status());
  TOK_TRY(const std::vector<bool> full, read_windows(config, c, period));
  c.ropes.push_back(still(c.head_dim));
  for (const bool is_full : full) c.rope_of.push_back(is_full ? 1 : 0);
  return c;
}

}  // namespace tokamak
