// Mistral. Reference: transformers/models/mistral/modeling_mistral.py; arXiv:2310.06825.
//
// What differs from Llama: a sliding window in every layer, unless config.json says null; no
// biases.
#include "model/dense_decoder.h"

namespace tokamak {
namespace {

Result<DenseConfig> read(ConfigReader config) {
  TOK_TRY(DenseConfig c, read_dense(config, {.kv_heads = 8, .max_context = 131072}));
  const uint32_t window = config.size("sliding_window", 4096);
  TOK_TRY(config.status());
  if (config.has("sliding_window") || !config.mentions("sliding_window")) {
    c.windows.assign(c.layers, window);
  }
  if (config.has("layer_types")) {
    return unsupported("{} is given; all layers of this architecture are of one type.",
                       config.path("layer_types"));
  }
  TOK_TRY(read_dense_rope(config, c));
  return c;
}

}  // namespace

Result<ModelFacts> mistral_facts(const ConfigReader& config) {
  TOK_TRY(const DenseConfig c, read(config));
  return dense_facts("MistralForCausalLM", c);
}

Result<Graph> build_mistral(const ConfigReader& config, const TensorFile& file,
                            const BuildOptions& options) {
  TOK_TRY(const DenseConfig c, read(config));
  return build_dense(c, file, options);
}

}  // namespace tokamak
