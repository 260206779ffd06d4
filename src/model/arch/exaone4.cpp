// EXAONE 4. Reference: transformers/models/exaone4/modeling_exaone4.py; arXiv:2507.11407.
//
// The differences from Llama:
//   norms after both sub-blocks, none before; q and k are normed per head
//   where there is a sliding window, three layers of four have it, and the others no positions
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_exaone4(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "Exaone4ForCausalLM", {.kv_heads = 32, .eps = 1e-5}));
  c.head_norm = HeadNorm::kHeads;
  c.norms.attention = c.norms.mlp = "";
  c.norms.attention_after = "post_attention_layernorm";
  c.norms.mlp_after = "post_feedforward_layernorm";
  TOK_TRY(read_decoder_rope(config, c));
  if (config.mentions("sliding_window") && !config.has("sliding_window")) return c;
  const bool listed = config.has("layer_types");
  const uint32_t period = listed ? 4 : config.size("sliding_window_pattern", 4);
  TOK_TRY(config.status());
  TOK_TRY(const std::vector<bool> full, read_windows(config, c, period));
  c.ropes.push_back(still(c.head_dim));
  for (const bool is_full : full) c.rope_of.push_back(is_full ? 1 : 0);
  return c;
}

}  // namespace tokamak
