// ERNIE 4.5, dense and with experts.
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {

// ERNIE 4.5, dense. Reference: transformers/models/ernie4_5/modeling_ernie4_5.py.
//
// Otherwise than in Llama neighbours turn together, and biases are everywhere or nowhere.
Result<DecoderSpec> read_ernie4_5(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(
              config, "Ernie4_5ForCausalLM",
              {.kv_heads = 2, .head_dim = 128, .max_context = 131072, .eps = 1e-5, .tied = true}));
  c.qkv_bias = c.output_bias = c.mlp_bias = config.flag("use_bias", false);
  c.pairs = true;
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c, 5e5));
  return c;
}

// ERNIE 4.5 with experts. Reference:
// transformers/models/ernie4_5_moe/modeling_ernie4_5_moe.py.
//
// Otherwise than in the dense models experts, chosen by a softmax and a bias, stand beside shared
// ones in layers from one index to another.
Result<DecoderSpec> read_ernie4_5_moe(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Ernie4_5_MoeForCausalLM",
                       {.kv_heads = 4, .max_context = 131072, .eps = 1e-5, .tied = true}));
  TOK_TRY(refuse_flag(config, "use_bias", "without biases"));
  c.pairs = true;
  Mixture mixture{.sizes = {},
                  .route = {.biased = true},
                  .sparse = {},
                  .route_bias = "mlp.moe_statics.e_score_correction_bias",
                  .shared_expert = "mlp.shared_experts."};
  TOK_TRY(mixture.sizes, read_experts(config, "moe_num_experts", "moe_k",
                                      ExpertSizes{.experts = 64, .top_k = 6, .ffn = 1536}));
  mixture.shared = config.count("moe_num_shared_experts", 2) * mixture.sizes.ffn;
  const uint32_t first = config.count("moe_layer_start_index", 1);
  const uint32_t interval = config.size("moe_layer_interval", 1);
  const bool has_end =
      config.has("moe_layer_end_index") && *config.find("moe_layer_end_index") != Json(-1);
  const uint32_t last = has_end ? config.count("moe_layer_end_index", 0) : c.layers;
  for (uint32_t i = 0; i < c.layers; ++i) {
    mixture.sparse.push_back((i + 1) % interval == 0 && i >= first && i <= last);
  }
  c.mixture = std::move(mixture);
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c, 5e5));
  return c;
}

}  // namespace tokamak
