// Llama, SmolLM and others of this shape. Reference: transformers/models/llama/modeling_llama.py;
// arXiv:2302.13971, 2407.21783.
//
// The dense decoder as it is: biases, head_dim, tying and llama3 scaling as config.json says.
#include "model/dense_decoder.h"

namespace tokamak {
namespace {

Result<DenseConfig> read(ConfigReader config) {
  TOK_TRY(DenseConfig c, read_dense(config, {}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.mlp_bias = config.flag("mlp_bias", false);
  if (config.flag("rope_interleaved", false)) {  // SmolLM's files say false
    return unsupported("{} is true; this engine turns halves, not neighbours.",
                       config.path("rope_interleaved"));
  }
  TOK_TRY(config.status());
  TOK_TRY(read_dense_rope(config, c));
  return c;
}

}  // namespace

Result<ModelFacts> llama_facts(const ConfigReader& config) {
  TOK_TRY(const DenseConfig c, read(config));
  return dense_facts("LlamaForCausalLM", c);
}

Result<Graph> build_llama(const ConfigReader& config, const TensorFile& file,
                          const BuildOptions& options) {
  TOK_TRY(const DenseConfig c, read(config));
  return build_dense(c, file, options);
}

}  // namespace tokamak
