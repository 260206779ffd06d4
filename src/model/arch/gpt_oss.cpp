// gpt-oss. Reference: transformers/models/gpt_oss/modeling_gpt_oss.py; arXiv:2508.10925.
//
// The differences from Mixtral:
//   every product but the head has a bias, the router's and the experts' too
//   a sink per head in the softmax of attention, windows in every other layer
//   clamped gates of experts, whose rows of gate and up alternate
#include "base/json.h"
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {
namespace {

/// The scaling of the reference's class, for a config.json that has none.
const Json& usual_scaling() {
  static const Json scaling = Json()
                                  .set("rope_type", "yarn")
                                  .set("factor", 32.0)
                                  .set("beta_fast", 32.0)
                                  .set("beta_slow", 1.0)
                                  .set("original_max_position_embeddings", 4096)
                                  .set("truncate", false);
  return scaling;
}

Result<void> read_ropes(ConfigReader& config, DecoderSpec& c) {
  constexpr double kTheta = 150000.0;
  if (config.has("rope_scaling") || config.has("rope_parameters")) {
    return read_decoder_rope(config, c, kTheta);
  }
  ConfigReader fields(usual_scaling(), config.path("rope_scaling"));
  c.ropes = {read_rope(fields, config.positive("rope_theta", kTheta), c.head_dim, c.max_context)};
  TOK_TRY(fields.status());
  return config.status();
}

}  // namespace

Result<DecoderSpec> read_gpt_oss(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "GptOssForCausalLM",
                       {.kv_heads = 8, .head_dim = 64, .max_context = 131072, .eps = 1e-5}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", true);
  c.sinks = true;
  Mixture mixture;
  const ExpertSizes usual{.experts = 128, .top_k = 4, .ffn = c.ffn};
  TOK_TRY(mixture.sizes, read_experts(config, "num_local_experts", "num_experts_per_tok", usual));
  mixture.router_bias = true;
  mixture.sparse.assign(c.layers, true);
  mixture.router = "mlp.router";
  mixture.form.bias = mixture.form.alternate = true;
  mixture.form.limit = float(config.positive("swiglu_limit", 7.0));
  c.mixture = std::move(mixture);
  TOK_TRY(config.status());
  TOK_TRY(read_windows(config, c, 2));
  TOK_TRY(read_ropes(config, c));
  return c;
}

}  // namespace tokamak
