// LFM2 with experts. Reference: transformers/models/lfm2_moe/modeling_lfm2_moe.py.
//
// The differences from LFM2:
//   the size of the MLP is as the config has it
//   from some layer on experts in its place, by their sigmoids and a bias
#include "model/arch/lfm2.h"

namespace tokamak {

Result<Lfm2Config> read_lfm2_moe(ConfigReader config) {
  TOK_TRY(Lfm2Config c, read_lfm2(config));
  c.architecture = "Lfm2MoeForCausalLM";
  c.ffn = config.size("intermediate_size", 7168);
  Mixture mixture{.sizes = {},
                  .route = {.normalize = config.flag("norm_topk_prob", true),
                            .score = Score::kSigmoid,
                            .biased = config.flag("use_expert_bias", true),
                            .eps = 1e-6f,
                            .scaled = float(config.positive("routed_scaling_factor", 1.0))},
                  .sparse = {},
                  .router = "feed_forward.gate",
                  .experts = "feed_forward.experts",
                  .route_bias = "feed_forward.expert_bias"};
  TOK_TRY(mixture.sizes, read_experts(config, "num_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 32, .top_k = 4, .ffn = 1792}));
  const uint32_t dense = config.count("num_dense_layers", 2);
  for (uint32_t i = 0; i < c.layers; ++i) mixture.sparse.push_back(i >= dense);
  c.mixture = std::move(mixture);
  TOK_TRY(config.status());
  return c;
}

}  // namespace tokamak
