// Mistral, Ministral 3 and Mixtral.
#include "model/decoder_fields.h"
#include "model/families.h"
#include "model/rope_config.h"

namespace tokamak {

// Mistral. Reference: transformers/models/mistral/modeling_mistral.py; arXiv:2310.06825.
//
// Otherwise than in Llama there is a sliding window in every layer, unless config.json says null,
// and there are no biases.
Result<DecoderSpec> read_mistral(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "MistralForCausalLM", {.kv_heads = 8, .max_context = 131072}));
  const uint32_t window = config.size("sliding_window", 4096);
  TOK_TRY(config.status());
  if (config.has("sliding_window") || !config.mentions("sliding_window")) {
    c.windows.assign(c.layers, window);
  }
  if (config.has("layer_types")) {
    return unsupported("{} is given; all layers of this architecture are of one type.",
                       config.path("layer_types"));
  }
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// Ministral 3. Reference: transformers/models/ministral3/modeling_ministral3.py.
//
// Otherwise than in Mistral a window is there only where config.json has one, and queries are
// scaled by their position.
Result<DecoderSpec> read_ministral3(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Ministral3ForCausalLM",
                       {.kv_heads = 8, .head_dim = 128, .max_context = 262144, .eps = 1e-5}));
  if (config.has("sliding_window")) c.windows.assign(c.layers, config.size("sliding_window"));
  ConfigReader fields = rope_fields(config);
  if (fields.has("llama_4_scaling_beta")) {
    c.query_scale = {.beta = float(fields.positive("llama_4_scaling_beta")),
                     .period = fields.size("original_max_position_embeddings")};
  }
  TOK_TRY(fields.status());
  TOK_TRY(config.status());
  TOK_TRY(read_decoder_rope(config, c, 1e6));
  return c;
}

// The text part of Mistral Small 3 and Ministral 3 with images. Reference:
// transformers/models/mistral3/modeling_mistral3.py.
Result<DecoderSpec> read_mistral3(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  const std::string type = config.word("model_type", "mistral");
  TOK_TRY(DecoderSpec c, type == "ministral3" ? read_ministral3(config) : read_mistral(config));
  c.architecture = "Mistral3ForConditionalGeneration";
  c.tied = read_tied(whole, config, false);
  TOK_TRY(config.status());
  return c;
}

// Mixtral. Reference: transformers/models/mixtral/modeling_mixtral.py; arXiv:2401.04088.
//
// Otherwise than in Mistral the MLP of every layer is a mixture of experts.
Result<DecoderSpec> read_mixtral(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "MixtralForCausalLM",
                                      {.kv_heads = 8, .max_context = 131072, .eps = 1e-5}));
  if (config.has("sliding_window")) c.windows.assign(c.layers, config.size("sliding_window"));
  Mixture mixture{.sizes = {},
                  .route = {},
                  .sparse = std::vector<bool>(c.layers, true),
                  .router = "block_sparse_moe.gate",
                  .experts = "block_sparse_moe.experts"};
  TOK_TRY(mixture.sizes, read_experts(config, "num_local_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 8, .top_k = 2, .ffn = c.ffn}));
  c.mixture = std::move(mixture);
  TOK_TRY(read_decoder_rope(config, c, 1e6));
  return c;
}

}  // namespace tokamak
