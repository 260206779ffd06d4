// The fields of config.json of models with attention to latents.
#include <cmath>
#include <utility>

#include "model/arch/deepseek.h"
#include "model/decoder_fields.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

/// The square of what YaRN with mscale_all_dim makes of q and of k.
Result<double> yarn_scale(const ConfigReader& config) {
  ConfigReader fields = rope_fields(config);
  const std::string type = fields.word("rope_type", fields.word("type", "default"));
  const Json* all = fields.find("mscale_all_dim");
  const bool is_set = all != nullptr && *all != Json(0) && *all != Json(0.0);
  double magnitude = 1;
  if (type == "yarn" && is_set) {
    magnitude = yarn_magnitude(fields.positive("factor"), fields.positive("mscale_all_dim"));
  }
  TOK_TRY(fields.status());
  return magnitude * magnitude;
}

/// The choice of experts by topk_method: of V2 Lite, V2 and V3.
Result<Route> read_route(ConfigReader& config, uint32_t experts, bool is_third) {
  const std::string method = config.word("topk_method", is_third ? "noaux_tc" : "greedy");
  const std::string scores = config.word("scoring_func", is_third ? "sigmoid" : "softmax");
  TOK_TRY(config.status());
  if (method == "noaux_tc" && scores == "sigmoid") return read_sigmoid_route(config, experts);
  if (scores != "softmax" || (method != "greedy" && method != "group_limited_greedy")) {
    return unsupported(
        "{} is \"{}\" and topk_method is \"{}\"; this engine knows softmax with greedy or "
        "group_limited_greedy, and sigmoid with noaux_tc.",
        config.path("scoring_func"), scores, method);
  }
  Route route{.normalize = config.flag("norm_topk_prob", is_third),
              .scaled = float(config.positive("routed_scaling_factor", 1.0))};
  TOK_TRY(config.status());
  if (method != "greedy") TOK_TRY(read_groups(config, experts, route));
  return route;
}

Result<void> read_mixture(ConfigReader& config, LatentSpec& c, bool is_third) {
  const uint32_t dense = config.count("first_k_dense_replace", 0);
  const uint32_t period = config.size("moe_layer_freq", 1);
  const uint32_t shared = config.count("n_shared_experts", 0);
  TOK_TRY(const ExpertSizes sizes, read_experts(config, "n_routed_experts", "num_experts_per_tok"));
  TOK_TRY(const Route route, read_route(config, sizes.experts, is_third));
  Mixture mixture{.sizes = sizes,
                  .route = route,
                  .sparse = {},
                  .route_bias = "mlp.gate.e_score_correction_bias",
                  .shared = shared * sizes.ffn,
                  .shared_expert = "mlp.shared_experts."};
  for (uint32_t i = 0; i < c.layers; ++i) {
    mixture.sparse.push_back(i >= dense && i % period == 0);
  }
  c.mixture = std::move(mixture);
  return config.status();
}

Result<LatentSpec> read_latents(ConfigReader config, std::string_view architecture, bool is_third) {
  constexpr uint32_t kAnyHead = 2;  // config.json need not have a size of heads, and none is used
  TOK_TRY(const DecoderSpec plain, read_decoder(config, architecture, {.head_dim = kAnyHead}));
  LatentSpec c{};
  static_cast<DecoderSpec&>(c) = plain;
  c.q_rank = config.has("q_lora_rank") ? config.size("q_lora_rank") : 0;
  c.kv_rank = config.size("kv_lora_rank");
  c.still = config.size("qk_nope_head_dim");
  c.turned = config.size("qk_rope_head_dim");
  c.value = config.size("v_head_dim");
  c.neighbours = config.flag("rope_interleave", true);
  TOK_TRY(config.status());
  if (c.kv_rank % 2 != 0 || c.turned % 2 != 0) {
    return invalid_input("{} is {} and qk_rope_head_dim is {}, expected even numbers.",
                         config.path("kv_lora_rank"), c.kv_rank, c.turned);
  }
  TOK_TRY(refuse_flag(config, "attention_bias", "without biases"));
  c.head_dim = c.turned;
  TOK_TRY(read_decoder_rope(config, c));
  TOK_TRY(const double scale, yarn_scale(config));
  c.score_scale = float(scale / std::sqrt(double(c.still) + double(c.turned)));
  if (config.has("n_routed_experts")) TOK_TRY(read_mixture(config, c, is_third));
  TOK_TRY(config.status());
  return c;
}

}  // namespace

Result<LatentSpec> read_deepseek_v2(ConfigReader config) {
  return read_latents(std::move(config), "DeepseekV2ForCausalLM", false);
}

Result<LatentSpec> read_deepseek_v3(ConfigReader config) {
  return read_latents(std::move(config), "DeepseekV3ForCausalLM", true);
}

Result<LatentSpec> read_glm4_moe_lite(ConfigReader config) {
  return read_latents(std::move(config), "Glm4MoeLiteForCausalLM", true);
}

}  // namespace tokamak
