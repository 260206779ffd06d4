// Qwen2, Qwen3 and Qwen3-MoE, and the texts of Qwen2-VL, Qwen2.5-VL and Qwen3-VL.
#include "model/decoder_fields.h"
#include "model/families.h"

namespace tokamak {

// Qwen2 and Qwen2.5. Reference: transformers/models/qwen2/modeling_qwen2.py; arXiv:2407.10671.
//
// Otherwise than in Llama there are biases on q, k and v alone, and optionally sliding windows in
// the upper layers.
Result<DecoderSpec> read_qwen2(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Qwen2ForCausalLM", {.kv_heads = 32, .max_context = 32768}));
  c.qkv_bias = true;
  TOK_TRY(c.windows, read_optional_windows(config, c.layers));
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

namespace {

Result<DecoderSpec> read_seeing_qwen2(const ConfigReader& whole, std::string_view architecture) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  TOK_TRY(DecoderSpec c,
          read_decoder(config, architecture, {.kv_heads = 8, .max_context = 32768, .eps = 1e-5}));
  c.qkv_bias = true;
  c.tied = read_tied(whole, config, false);
  TOK_TRY(c.windows, read_optional_windows(config, c.layers));
  TOK_TRY(read_decoder_rope(config, c, 1e6));
  return c;
}

}  // namespace

// Qwen2-VL and Qwen2.5-VL. References: transformers/models/qwen2_vl/modeling_qwen2_vl.py and
// qwen2_5_vl/modeling_qwen2_5_vl.py; arXiv:2409.12191.
//
// Otherwise than in Qwen2 fields may stand in text_config; the multi-axis rotary positions of
// images are the ordinary ones for text.
Result<DecoderSpec> read_qwen2_vl(const ConfigReader& whole) {
  return read_seeing_qwen2(whole, "Qwen2VLForConditionalGeneration");
}
Result<DecoderSpec> read_qwen2_5_vl(const ConfigReader& whole) {
  return read_seeing_qwen2(whole, "Qwen2_5_VLForConditionalGeneration");
}

// Qwen3. Reference: transformers/models/qwen3/modeling_qwen3.py; arXiv:2505.09388.
//
// Otherwise than in Llama q and k are normed per head; heads are of 128 whatever the hidden size;
// optionally there are sliding windows in the upper layers.
Result<DecoderSpec> read_qwen3(ConfigReader config) {
  TOK_TRY(DecoderSpec c, read_decoder(config, "Qwen3ForCausalLM",
                                      {.kv_heads = 32, .head_dim = 128, .max_context = 32768}));
  c.head_norm = HeadNorm::kHeads;
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  TOK_TRY(c.windows, read_optional_windows(config, c.layers));
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

// Qwen3-MoE. Reference: transformers/models/qwen3_moe/modeling_qwen3_moe.py; arXiv:2505.09388.
//
// Otherwise than in Qwen3 the MLP of sparse layers is a mixture of experts, of which a router
// chooses a few for every token. The sliding window, if used, is in every layer.
Result<DecoderSpec> read_qwen3_moe(ConfigReader config) {
  TOK_TRY(DecoderSpec c,
          read_decoder(config, "Qwen3MoeForCausalLM", {.kv_heads = 4, .max_context = 32768}));
  c.head_norm = HeadNorm::kHeads;
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  const bool windows = config.flag("use_sliding_window", false) &&
                       (config.has("sliding_window") || !config.mentions("sliding_window"));
  if (windows) c.windows.assign(c.layers, config.size("sliding_window", 4096));
  const ExpertSizes usual{.experts = config.size("num_local_experts", 128), .top_k = 8, .ffn = 768};
  Mixture mixture;
  TOK_TRY(mixture.sizes, read_experts(config, "num_experts", "num_experts_per_tok", usual));
  mixture.route.normalize = config.flag("norm_topk_prob", false);
  TOK_TRY(mixture.sparse, read_sparse_layers(config, c.layers));
  c.mixture = std::move(mixture);
  TOK_TRY(read_decoder_rope(config, c));
  return c;
}

namespace {

/// The fields that the text of Qwen3-VL adds to those of a decoder, dense or with experts.
Result<DecoderSpec> read_seeing_text(const ConfigReader& whole, ConfigReader& config,
                                     std::string_view architecture,
                                     const DecoderDefaults& defaults) {
  TOK_TRY(DecoderSpec c, read_decoder(config, architecture, defaults));
  c.head_norm = HeadNorm::kHeads;
  c.qkv_bias = c.output_bias = config.flag("attention_bias", false);
  c.tied = read_tied(whole, config, false);
  TOK_TRY(read_decoder_rope(config, c, 5e5));
  return c;
}

}  // namespace

// Qwen3-VL. Reference: transformers/models/qwen3_vl/modeling_qwen3_vl.py; arXiv:2511.21631.
//
// Otherwise than in Qwen3 there are no windows, and the fields stand in text_config. What the tower
// adds after the first layers is in qwen_vision.cpp; the multi-axis rotary positions of images are
// the ordinary ones for text.
Result<DecoderSpec> read_qwen3_vl(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  return read_seeing_text(whole, config, "Qwen3VLForConditionalGeneration",
                          {.kv_heads = 32, .head_dim = 128, .max_context = 128000});
}

// Qwen3-VL-MoE. Reference: transformers/models/qwen3_vl_moe/modeling_qwen3_vl_moe.py.
//
// Otherwise than in Qwen3-MoE shares always sum to 1; published files have the experts' matrices as
// [in, out].
Result<DecoderSpec> read_qwen3_vl_moe(const ConfigReader& whole) {
  ConfigReader config = whole.has("text_config") ? whole.at("text_config") : whole;
  TOK_TRY(DecoderSpec c, read_seeing_text(whole, config, "Qwen3VLMoeForConditionalGeneration",
                                          {.kv_heads = 16, .ffn = 5632, .max_context = 128000}));
  Mixture mixture;
  TOK_TRY(mixture.sizes, read_experts(config, "num_experts", "num_experts_per_tok",
                                      ExpertSizes{.experts = 60, .top_k = 4, .ffn = 1408}));
  mixture.route.normalize = true;
  if (!config.flag("norm_topk_prob", true)) {
    return unsupported("{} is false; this architecture's shares always sum to 1.",
                       config.path("norm_topk_prob"));
  }
  TOK_TRY(mixture.sparse, read_sparse_layers(config, c.layers));
  c.mixture = std::move(mixture);
  return c;
}

}  // namespace tokamak
