// Qwen3-MoE. Reference: transformers/models/qwen3_moe/modeling_qwen3_moe.py; arXiv:2505.09388.
//
// What differs from Qwen3: in the sparse layers the MLP is a mixture of experts, of which a router
// chooses a few for every token. Every decoder_sparse_step-th layer is sparse, but for
// mlp_only_layers. The sliding window, if used, is in every layer.
#include "model/decoder_fields.h"
#include "model/dense_decoder.h"
#include "model/experts.h"

namespace tokamak {
namespace {

struct Config : DenseConfig {
  ExpertSizes experts;
  bool normalize;
  std::vector<bool> sparse;  // per layer
};

Result<Config> read(ConfigReader config) {
  Config c{};
  TOK_TRY(static_cast<DenseConfig&>(c), read_dense(config, {.kv_heads = 4, .max_context = 32768}));
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  const bool windows = config.flag("use_sliding_window", false) &&
                       (config.has("sliding_window") || !config.mentions("sliding_window"));
  if (windows) c.windows.assign(c.layers, config.size("sliding_window", 4096));
  const ExpertSizes usual{.experts = config.size("num_local_experts", 128), .top_k = 8, .ffn = 768};
  TOK_TRY(c.experts, read_experts(config, "num_experts", "num_experts_per_tok", usual));
  c.normalize = config.flag("norm_topk_prob", false);
  const uint32_t step = config.size("decoder_sparse_step", 1);
  const std::vector<uint32_t> dense = config.counts("mlp_only_layers");
  TOK_TRY(config.status());
  for (uint32_t i = 0; i < c.layers; ++i) c.sparse.push_back((i + 1) % step == 0);
  for (const uint32_t layer : dense) {
    if (layer >= c.layers) {
      return invalid_input("{} has {}, expected layers below {} (num_hidden_layers).",
                           config.path("mlp_only_layers"), layer, c.layers);
    }
    c.sparse[layer] = false;
  }
  TOK_TRY(read_dense_rope(config, c));
  return c;
}

struct Decoder : DenseDecoder {
  const Config& own;

  Decoder(ModelBuilder& builder, const Config& config)
      : DenseDecoder(builder, config), own(config) {}

  Heads heads(ValueId x) override { return normed_heads(x); }

  ValueId mlp(uint32_t layer, ValueId x) override {
    if (!own.sparse[layer]) return DenseDecoder::mlp(layer, x);
    const ValueId logits = b.projection(x, p + "mlp.gate", own.experts.experts);
    const GraphBuilder::Routed routed =
        b.route(logits, {.top_k = own.experts.top_k, .normalize = own.normalize});
    return gated_experts(b, p + "mlp.experts", own.experts, c.activation, x, routed);
  }
};

}  // namespace

Result<ModelFacts> qwen3_moe_facts(const ConfigReader& config) {
  TOK_TRY(const Config c, read(config));
  return dense_facts("Qwen3MoeForCausalLM", c);
}

Result<Graph> build_qwen3_moe(const ConfigReader& config, const TensorFile& file,
                              const BuildOptions& options) {
  TOK_TRY(const Config c, read(config));
  return build_dense<Decoder>(c, file, options);
}

}  // namespace tokamak
