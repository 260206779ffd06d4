// Qwen2 and Qwen2.5. Reference: transformers/models/qwen2/modeling_qwen2.py; arXiv:2407.10671.
//
// What differs from Llama: biases on q, k and v alone; optionally sliding windows in the upper
// layers.
#include "model/decoder_fields.h"
#include "model/dense_decoder.h"

namespace tokamak {
namespace {

Result<DenseConfig> read(ConfigReader config) {
  TOK_TRY(DenseConfig c, read_dense(config, {.kv_heads = 32, .max_context = 32768}));
  c.qkv_bias = true;
  TOK_TRY(c.windows, read_optional_windows(config, c.layers));
  TOK_TRY(read_dense_rope(config, c));
  return c;
}

}  // namespace

Result<ModelFacts> qwen2_facts(const ConfigReader& config) {
  TOK_TRY(const DenseConfig c, read(config));
  return dense_facts("Qwen2ForCausalLM", c);
}

Result<Graph> build_qwen2(const ConfigReader& config, const TensorFile& file,
                          const BuildOptions& options) {
  TOK_TRY(const DenseConfig c, read(config));
  return build_dense(c, file, options);
}

}  // namespace tokamak
