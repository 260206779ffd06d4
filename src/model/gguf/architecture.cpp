#include "model/gguf/architecture.h"

#include <algorithm>

namespace tokamak::gguf {
namespace {

constexpr Rename kGemma3Names[] = {
    {"dense_2", "2_Dense/linear"},  // EmbeddingGemma's, after the pooling
    {"dense_3", "3_Dense/linear"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};
constexpr Rename kGemma4Names[] = {
    {"ffn_down_exps.scale", "router.per_expert_scale"},
    {"ffn_down_exps.weight", "experts.down_proj"},
    {"ffn_gate_inp", "router.proj"},
    {"ffn_gate_inp.scale", "router.scale"},
    {"ffn_gate_up_exps.weight", "experts.gate_up_proj"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"inp_gate", "per_layer_input_gate"},
    {"layer_output_scale.weight", "layer_scalar"},
    {"per_layer_model_proj", "model.per_layer_model_projection"},
    {"per_layer_proj_norm", "model.per_layer_projection_norm"},
    {"per_layer_token_embd", "model.embed_tokens_per_layer"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
    {"post_ffw_norm_1", "post_feedforward_layernorm_1"},
    {"post_ffw_norm_2", "post_feedforward_layernorm_2"},
    {"post_norm", "post_per_layer_input_norm"},
    {"pre_ffw_norm_2", "pre_feedforward_layernorm_2"},
    {"proj", "per_layer_projection"},
};
constexpr Rename kLfm2Names[] = {
    {"attn_norm", "operator_norm"},
    {"attn_output", "self_attn.out_proj"},
    {"attn_q_norm", "self_attn.q_layernorm"},
    {"attn_k_norm", "self_attn.k_layernorm"},
    {"exp_probs_b.bias", "feed_forward.expert_bias"},
    {"ffn_gate_inp", "feed_forward.gate"},
    {"ffn_norm", "ffn_norm"},
    {"ffn_gate", "feed_forward.w1"},
    {"ffn_down", "feed_forward.w2"},
    {"ffn_up", "feed_forward.w3"},
    {"output_norm", "model.embedding_norm"},
    {"shortconv.conv", "conv.conv"},
    {"shortconv.in_proj", "conv.in_proj"},
    {"shortconv.out_proj", "conv.out_proj"},
};
constexpr Rename kLlamaNames[] = {
    {"ffn_gate_inp", "block_sparse_moe.gate"},  // Mixtral
};
constexpr Rename kPhi3Names[] = {
    {"attn_qkv", "self_attn.qkv_proj"},
    {"ffn_up", "mlp.gate_up_proj"},
};

constexpr Rename kQwen35Names[] = {
    {"attn_gate", "linear_attn.in_proj_z"},
    {"attn_qkv", "linear_attn.in_proj_qkv"},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ssm_a", "linear_attn.A_log"},
    {"ssm_alpha", "linear_attn.in_proj_a"},
    {"ssm_ba", "linear_attn.in_proj_ba"},  // Qwen3-Next's
    {"ssm_beta", "linear_attn.in_proj_b"},
    {"ssm_conv1d", "linear_attn.conv1d"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    {"ssm_in", "linear_attn.in_proj_qkvz"},  // Qwen3-Next's, in older files
    {"ssm_norm", "linear_attn.norm"},
    {"ssm_out", "linear_attn.out_proj"},
};

/// The file keeps no word of biases but the tensors themselves.
void llama(Fields& f) {
  biases(f);
  const uint32_t window = f.reader.count(f.key("attention.sliding_window"), 0);
  if (const uint32_t experts = f.reader.count(f.key("expert_count"), 0); experts != 0) {
    f.config.set("num_experts", experts).set("num_local_experts", experts);
    f.config.set("num_experts_per_tok", f.size("expert_used_count"));
    if (window != 0) f.config.set("sliding_window", window);
    f.replace("architectures", Json::Array{"MixtralForCausalLM"});
    return f.replace("model_type", "mixtral");
  }
  if (window == 0) return;
  f.config.set("sliding_window", window);  // Mistral 7B's first version
  f.replace("architectures", Json::Array{"MistralForCausalLM"});
  f.replace("model_type", "mistral");
}

/// Which layers slide: a period, or a list, as newer converters write it.
void gemma3_windows(Fields& f, uint32_t layers) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  Json::Array types;
  const Json* pattern = f.reader.find(f.key(kPattern));
  if (!f.has("attention.sliding_window")) {
    types.assign(std::min(layers, 4096u), "full_attention");
  } else {
    f.config.set("sliding_window", f.size("attention.sliding_window"));
    if (pattern == nullptr || !pattern->is_array()) {
      f.config.set("sliding_window_pattern", f.size(kPattern, 6));
      return;
    }
    for (const Json& slides : pattern->as_array()) {
      types.emplace_back(is_true(slides) ? "sliding_attention" : "full_attention");
    }
  }
  f.config.set("layer_types", std::move(types));
}

constexpr std::string_view kGemma3Keys[] = {"attention.scale"};
void gemma3(Fields& f) {
  const uint32_t hidden = f.size("embedding_length"), layers = f.size("block_count");
  const uint32_t heads = f.size("attention.head_count");
  // Scores are scaled by the size of a head, but in the model of 62 layers by hidden / heads.
  double scalar = f.size("attention.key_length", std::max(hidden / heads, 1u));
  if (layers == 62) scalar = double(hidden) / double(heads);
  if (f.has("attention.scale")) {
    const double scale = f.positive("attention.scale", 1.0);
    scalar = 1.0 / (scale * scale);
  }
  f.config.set("query_pre_attn_scalar", scalar);
  f.config.set("rope_local_base_freq", f.positive("rope.freq_base_swa", 10000.0));
  softcaps(f);
  if (!f.has("rope.freq_base")) f.reader.positive(f.key("rope.freq_base"));  // has no default
  gemma3_windows(f, layers);
}

/// The windows are those of a model that attends one way, as in config.json.
void gemma_embedding(Fields& f) {
  gemma3(f);
  f.config.set("use_bidirectional_attention", true);
}

void qwen3moe(Fields& f) {
  const uint32_t used = f.size("expert_used_count"), layers = f.size("block_count");
  f.config.set("num_experts", f.size("expert_count"));
  f.config.set("num_experts_per_tok", used);
  f.config.set("moe_intermediate_size",
               f.size("expert_feed_forward_length",
                      std::max(f.size("feed_forward_length") / std::max(used, 1u), 1u)));
  f.config.set("norm_topk_prob", f.reader.flag(f.key("expert_weights_norm"), true));
  f.config.set("decoder_sparse_step", 1);
  Json::Array dense;
  for (uint32_t i = 0; i < std::min(layers, 4096u); ++i) {
    if (f.has_tensor(fmt::format("blk.{}.ffn_gate.weight", i))) dense.emplace_back(i);
  }
  f.config.set("mlp_only_layers", std::move(dense));
}

void phi3(Fields& f) {
  const uint32_t window = f.reader.count(f.key("attention.sliding_window"), 0);
  if (window != 0) f.config.set("sliding_window", window);
}

}  // namespace

/// A layer without heads for keys and values is a convolution.
void lfm2(Fields& f) {
  const Json* kv_heads = f.reader.find(f.key("attention.head_count_kv"));
  Json::Array types;
  const uint32_t layers = std::min(f.size("block_count"), 4096u);
  for (uint32_t i = 0; i < layers; ++i) {
    const bool listed = kv_heads != nullptr && kv_heads->is_array();
    const bool conv =
        listed && i < kv_heads->as_array().size() && kv_heads->as_array()[i] == Json(0);
    types.emplace_back(conv ? "conv" : "full_attention");
  }
  f.config.set("layer_types", std::move(types));
  f.config.set("norm_eps", f.positive("attention.layer_norm_rms_epsilon", 1e-5));
  f.config.set("conv_L_cache", f.size("shortconv.l_cache"));
  f.config.set("conv_bias", f.has_tensor("blk.0.shortconv.conv.bias"));
  f.config.set("block_ff_dim", f.size("feed_forward_length"));
  f.config.set("block_auto_adjust_ff_dim", false);  // the converter has adjusted it
}

namespace {

constexpr Architecture kArchitectures[] = {
    {.gguf = "gemma-embedding",
     .name = "Gemma3TextModel",
     .model_type = "gemma3_text",
     .names = kGemma3Names,
     .raised = true,
     .accepts = kGemma3Keys,
     .encoder = true,
     .more = gemma_embedding},
    {.gguf = "gemma3",
     .name = "Gemma3ForCausalLM",
     .model_type = "gemma3_text",
     .names = kGemma3Names,
     .raised = true,
     .accepts = kGemma3Keys,
     .more = gemma3},
    {.gguf = "gemma4",
     .name = "Gemma4ForCausalLM",
     .model_type = "gemma4_text",
     .names = kGemma4Names,
     .experts = true,
     .lists = true,
     .more = gemma4},
    {.gguf = "lfm2",
     .name = "Lfm2ForCausalLM",
     .model_type = "lfm2",
     .names = kLfm2Names,
     .lists = true,
     .more = lfm2},
    {.gguf = "lfm2moe",
     .name = "Lfm2MoeForCausalLM",
     .model_type = "lfm2_moe",
     .names = kLfm2Names,
     .experts = true,
     .expert_names = "feed_forward.experts",
     .lists = true,
     .more = lfm2_moe},
    {.gguf = "llama",
     .name = "LlamaForCausalLM",
     .model_type = "llama",
     .names = kLlamaNames,
     .permuted = true,
     .experts = true,
     .expert_names = "block_sparse_moe.experts",
     .more = llama},
    {.gguf = "phi3",
     .name = "Phi3ForCausalLM",
     .model_type = "phi3",
     .names = kPhi3Names,
     .partial = true,
     .more = phi3},
    {.gguf = "qwen2", .name = "Qwen2ForCausalLM", .model_type = "qwen2", .names = {}},
    {.gguf = "qwen2vl", .name = "Qwen2ForCausalLM", .model_type = "qwen2", .names = {}},
    {.gguf = "qwen3", .name = "Qwen3ForCausalLM", .model_type = "qwen3", .names = {}},
    {.gguf = "qwen35",
     .name = "Qwen3_5ForCausalLM",
     .model_type = "qwen3_5_text",
     .names = kQwen35Names,
     .raised = true,
     .partial = true,
     .more = qwen3_5},
    {.gguf = "qwen35moe",
     .name = "Qwen3_5MoeForCausalLM",
     .model_type = "qwen3_5_moe_text",
     .names = kQwen35Names,
     .raised = true,
     .experts = true,
     .partial = true,
     .more = qwen3_5_moe},
    {.gguf = "qwen3next",
     .name = "Qwen3NextForCausalLM",
     .model_type = "qwen3_next",
     .names = kQwen35Names,
     .raised = true,
     .experts = true,
     .partial = true,
     .more = qwen3_next},
    {.gguf = "qwen3vl",
     .name = "Qwen3VLForConditionalGeneration",
     .model_type = "qwen3_vl",
     .names = {}},
    {.gguf = "qwen3vlmoe",
     .name = "Qwen3VLMoeForConditionalGeneration",
     .model_type = "qwen3_vl_moe",
     .names = {},
     .experts = true,
     .more = qwen3moe},
    {.gguf = "qwen3moe",
     .name = "Qwen3MoeForCausalLM",
     .model_type = "qwen3_moe",
     .names = {},
     .experts = true,
     .more = qwen3moe},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

}  // namespace tokamak::gguf
