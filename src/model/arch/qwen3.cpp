// Qwen3. Reference: transformers/models/qwen3/modeling_qwen3.py; arXiv:2505.09388.
//
// What differs from Llama: q and k are normed per head; heads of 128 whatever the hidden size;
// optionally sliding windows in the upper layers.
#include "model/decoder_fields.h"
#include "model/dense_decoder.h"

namespace tokamak {
namespace {

Result<DenseConfig> read(ConfigReader config) {
  TOK_TRY(DenseConfig c,
          read_dense(config, {.kv_heads = 32, .head_dim = 128, .max_context = 32768}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  TOK_TRY(c.windows, read_optional_windows(config, c.layers));
  TOK_TRY(read_dense_rope(config, c));
  return c;
}

struct Decoder : DenseDecoder {
  using DenseDecoder::DenseDecoder;

  Heads heads(ValueId x) override { return normed_heads(x); }
};

}  // namespace

Result<ModelFacts> qwen3_facts(const ConfigReader& config) {
  TOK_TRY(const DenseConfig c, read(config));
  return dense_facts("Qwen3ForCausalLM", c);
}

Result<Graph> build_qwen3(const ConfigReader& config, const TensorFile& file,
                          const BuildOptions& options) {
  TOK_TRY(const DenseConfig c, read(config));
  return build_dense<Decoder>(c, file, options);
}

}  // namespace tokamak
