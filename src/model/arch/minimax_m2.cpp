// MiniMax-M2. Reference: transformers/models/minimax_m2/modeling_minimax_m2.py.
//
// The differences from Mixtral:
//   part of each head turns; q and k are normed over all heads together
//   experts are chosen by their sigmoids and a bias
#include "model/families.h"

namespace tokamak {

Result<DecoderSpec> read_minimax_m2(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "MiniMaxM2ForCausalLM",
                                      {.kv_heads = 8, .head_dim = 128, .max_context = 196608}));
  if (config.flag("use_qk_norm", true)) c.head_norm = HeadNorm::kRows;
  Mixture mixture{.sizes = {},
                  .route = {.score = Score::kSigmoid, .biased = true},
                  .sparse = std::vector<bool>(c.layers, true),
                  .router = "block_sparse_moe.gate",
                  .experts = "block_sparse_moe.experts",
                  .route_bias = "block_sparse_moe.e_score_correction_bias"};
  TOK_TRY(mixture.sizes, read_experts(config, "num_local_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 256, .top_k = 8, .ffn = c.ffn}));
  c.mixture = std::move(mixture);
  const double part = double(config.size("rotary_dim", c.head_dim)) / double(c.head_dim);
  TOK_TRY(config.status());
  TOK_TRY(read_partial_rope(config, c, part, 5e6));
  return c;
}

}  // namespace tokamak
