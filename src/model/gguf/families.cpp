// Architectures of GGUF files whose graph is the generic decoder's. Reference: llama.cpp's
// conversion/ and gguf-py/gguf/tensor_mapping.py.
#include <algorithm>
#include <cmath>

#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

constexpr Rename kNormsAfter[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};
constexpr Rename kGemma2Names[] = {
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};
constexpr Rename kDeepseekNames[] = {
    {"attn_k_b", "self_attn.embed_q"},
    {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
    {"attn_kv_a_norm", "self_attn.kv_a_layernorm"},
    {"attn_kv_b", "self_attn.kv_b_proj"},
    {"attn_q_a", "self_attn.q_a_proj"},
    {"attn_q_a_norm", "self_attn.q_a_layernorm"},
    {"attn_q_b", "self_attn.q_b_proj"},
    {"attn_v_b", "self_attn.unembed_out"},
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"},
};
constexpr Rename kGlm4Names[] = {
    {"ffn_up", "mlp.gate_up_proj"},
    {"post_attention_norm", "post_self_attn_layernorm"},
    {"post_ffw_norm", "post_mlp_layernorm"},
};
constexpr Rename kGlm4MoeNames[] = {
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"},
    {"post_attention_norm", "post_attention_layernorm"},
};
constexpr Rename kErnieMoeNames[] = {
    {"exp_probs_b.bias", "mlp.moe_statics.e_score_correction_bias"},
};
constexpr Rename kMinimaxNames[] = {
    {"exp_probs_b.bias", "block_sparse_moe.e_score_correction_bias"},
    {"ffn_gate_inp", "block_sparse_moe.gate"},
};
constexpr Rename kNemotronNames[] = {
    {"attn_k", "mixer.k_proj"},
    {"attn_norm", "norm"},
    {"attn_output", "mixer.o_proj"},
    {"attn_q", "mixer.q_proj"},
    {"attn_v", "mixer.v_proj"},
    {"exp_probs_b.bias", "mixer.gate.e_score_correction_bias"},
    {"ffn_down", "mixer.down_proj"},
    {"ffn_down_shexp", "mixer.shared_experts.down_proj"},
    {"ffn_gate_inp", "mixer.gate"},
    {"ffn_up", "mixer.up_proj"},
    {"ffn_up_shexp", "mixer.shared_experts.up_proj"},
    {"output_norm", "model.norm_f"},
    {"ssm_a", "mixer.A_log"},
    {"ssm_conv1d", "mixer.conv1d"},
    {"ssm_d", "mixer.D"},
    {"ssm_dt.bias", "mixer.dt_bias"},
    {"ssm_in", "mixer.in_proj"},
    {"ssm_norm", "mixer.norm"},
    {"ssm_out", "mixer.out_proj"},
    {"token_embd", "model.embeddings"},
};
constexpr Rename kPhiNames[] = {
    {"attn_output", "self_attn.dense"},
    {"ffn_down", "mlp.fc2"},
    {"ffn_up", "mlp.fc1"},
    {"output_norm", "model.final_layernorm"},
};
constexpr Rename kStarcoder2Names[] = {
    {"ffn_down", "mlp.c_proj"},
    {"ffn_up", "mlp.c_fc"},
};
constexpr Rename kFalconH1Names[] = {
    {"ffn_down", "feed_forward.down_proj"},
    {"ffn_gate", "feed_forward.gate_proj"},
    {"ffn_norm", "pre_ff_layernorm"},
    {"ffn_up", "feed_forward.up_proj"},
    {"output_norm", "model.final_layernorm"},
    {"ssm_a", "mamba.A_log"},
    {"ssm_conv1d", "mamba.conv1d"},
    {"ssm_d", "mamba.D"},
    {"ssm_dt.bias", "mamba.dt_bias"},
    {"ssm_in", "mamba.in_proj"},
    {"ssm_norm", "mamba.norm"},
    {"ssm_out", "mamba.out_proj"},
};
constexpr Rename kGraniteHybridNames[] = {
    {"ffn_down", "shared_mlp.down_proj"},
    {"ffn_down_shexp", "shared_mlp.down_proj"},
    {"ffn_gate", "shared_mlp.gate_proj"},
    {"ffn_gate_inp", "block_sparse_moe.router.layer"},
    {"ffn_gate_shexp", "shared_mlp.gate_proj"},
    {"ffn_up", "shared_mlp.up_proj"},
    {"ffn_up_shexp", "shared_mlp.up_proj"},
    {"ssm_a", "mamba.A_log"},
    {"ssm_conv1d", "mamba.conv1d"},
    {"ssm_d", "mamba.D"},
    {"ssm_dt.bias", "mamba.dt_bias"},
    {"ssm_in", "mamba.in_proj"},
    {"ssm_norm", "mamba.norm"},
    {"ssm_out", "mamba.out_proj"},
};
constexpr Rename kGptOssNames[] = {
    {"attn_sinks.weight", "self_attn.sinks"},
    {"ffn_down_exps.bias", "mlp.experts.down_proj_bias"},
    {"ffn_gate_exps.bias", "mlp.experts.gate_proj_bias"},
    {"ffn_gate_inp", "mlp.router"},
    {"ffn_up_exps.bias", "mlp.experts.up_proj_bias"},
    {"post_attention_norm", "post_attention_layernorm"},
};
constexpr Rename kHunyuanNames[] = {
    {"attn_k_norm", "self_attn.key_layernorm"},
    {"attn_q_norm", "self_attn.query_layernorm"},
};

/// The largest model scales scores by hidden / heads, the others by the size of a head; the file
/// does not have the number.
void gemma2(Fields& f) {
  const uint32_t hidden = f.size("embedding_length"), heads = f.size("attention.head_count");
  const uint32_t per_head = std::max(hidden / heads, 1u);
  constexpr uint32_t kLayersOf27B = 46;
  f.config.set("query_pre_attn_scalar", f.size("block_count") == kLayersOf27B
                                            ? per_head
                                            : f.size("attention.key_length", per_head));
  f.config.set("sliding_window", f.size("attention.sliding_window", 4096));
  softcaps(f);
}

/// OLMo 3 is OLMo 2 with windows.
void olmo(Fields& f) {
  biases(f);
  if (!f.has("attention.sliding_window")) return;
  f.replace("architectures", Json::Array{"Olmo3ForCausalLM"});
  f.replace("model_type", "olmo3");
  set_layer_types(f, 4);
}

/// The ends of YaRN's ramp lie between whole pairs, for which the file has no key.
void gpt_oss(Fields& f) {
  f.config.set("num_experts", f.size("expert_count"))
      .set("num_local_experts", f.size("expert_count"))
      .set("num_experts_per_tok", f.size("expert_used_count"))
      .set("moe_intermediate_size",
           f.size("expert_feed_forward_length", f.size("feed_forward_length", 1)));
  set_layer_types(f, 2);
  const Json* const scaling = f.config.find("rope_scaling");
  if (scaling != nullptr && scaling->is_object()) {
    Json exact = *scaling;
    f.replace("rope_scaling", std::move(exact.set("truncate", false)));
  }
}

constexpr std::string_view kGraniteKeys[] = {"attention.scale", "embedding_scale", "logit_scale",
                                             "residual_scale"};
void granite(Fields& f) {
  biases(f);
  const uint32_t head_dim =
      f.size("attention.key_length",
             std::max(f.size("embedding_length") / f.size("attention.head_count"), 1u));
  f.config.set("embedding_multiplier", f.positive("embedding_scale", 1.0))
      .set("residual_multiplier", f.positive("residual_scale", 1.0))
      .set("attention_multiplier", f.positive("attention.scale", 1.0 / std::sqrt(double(head_dim))))
      .set("logits_scaling", f.positive("logit_scale", 1.0));
}

void granite_with_scans(Fields& f) {
  granite(f);
  granite_hybrid(f);
}

constexpr std::string_view kScoredKeys[] = {"expert_group_count", "expert_shared_count"};
constexpr std::string_view kMistralKeys[] = {"attention.temperature_scale"};
/// The factor of YaRN's scores is 1, which the file has as a multiplier.
void mistral3(Fields& f) {
  if (!f.has("attention.temperature_scale")) return;
  Json scaling = f.config.find("rope_scaling") != nullptr ? *f.config.find("rope_scaling") : Json();
  if (!scaling.is_object()) scaling = Json(Json::Object{});
  const uint32_t original =
      f.size("rope.scaling.original_context_length", f.size("context_length"));
  if (scaling.find("original_max_position_embeddings") == nullptr) {
    scaling.set("original_max_position_embeddings", original);
  }
  scaling.set("llama_4_scaling_beta", f.positive("attention.temperature_scale", 1.0));
  f.replace("rope_scaling", std::move(scaling));
}

constexpr std::string_view kDeepseekKeys[] = {"attention.value_length", "expert_group_count",
                                              "expert_shared_count"};

void ernie(Fields& f) {
  f.config.set("use_bias", f.has_tensor("blk.0.attn_q.bias"));
}

void exaone4(Fields& f) {
  if (!f.has("attention.sliding_window")) f.config.set("sliding_window", Json());
  set_layer_types(f, 4);
}

constexpr std::string_view kCohereKeys[] = {"logit_scale"};
void cohere2(Fields& f) {
  biases(f);
  f.config.set("logit_scale", f.positive("logit_scale", 0.0625));
  set_layer_types(f, 4);
}

void seed_oss(Fields& f) {
  biases(f);
  f.config.set("attention_out_bias", f.has_tensor("blk.0.attn_output.bias"));
}

constexpr std::string_view kStablelmKeys[] = {"use_parallel_residual"};
void stablelm(Fields& f) {
  f.config.set("use_qkv_bias", f.has_tensor("blk.0.attn_q.bias"))
      .set("use_parallel_residual", !f.has_tensor("blk.0.ffn_norm.weight"))
      .set("qk_layernorm", f.has_tensor("blk.0.attn_q_norm.weight"));
}

void starcoder2(Fields& f) {
  f.config.set("norm_epsilon", f.positive("attention.layer_norm_epsilon", 1e-5))
      .set("use_bias", f.has_tensor("blk.0.attn_q.bias"));
  if (f.has("attention.sliding_window")) {
    f.config.set("sliding_window", f.size("attention.sliding_window"));
  }
}

constexpr Architecture kFamilies[] = {
    {.gguf = "cohere2",
     .name = "Cohere2ForCausalLM",
     .model_type = "cohere2",
     .names = {},
     .accepts = kCohereKeys,
     .layer_norm = true,
     .more = cohere2},
    {.gguf = "deepseek2",
     .name = "DeepseekV2ForCausalLM",
     .model_type = "deepseek_v2",
     .names = kDeepseekNames,
     .experts = true,
     .accepts = kDeepseekKeys,
     .partial = true,
     .more = deepseek2},
    {.gguf = "ernie4_5",
     .name = "Ernie4_5ForCausalLM",
     .model_type = "ernie4_5",
     .names = {},
     .more = ernie},
    {.gguf = "ernie4_5-moe",
     .name = "Ernie4_5_MoeForCausalLM",
     .model_type = "ernie4_5_moe",
     .names = kErnieMoeNames,
     .experts = true,
     .accepts = kScoredKeys,
     .more = ernie4_5_moe},
    {.gguf = "exaone4",
     .name = "Exaone4ForCausalLM",
     .model_type = "exaone4",
     .names = kNormsAfter,
     .more = exaone4},
    {.gguf = "falcon-h1",
     .name = "FalconH1ForCausalLM",
     .model_type = "falcon_h1",
     .names = kFalconH1Names,
     .more = falcon_h1},
    {.gguf = "gemma",
     .name = "GemmaForCausalLM",
     .model_type = "gemma",
     .names = {},
     .raised = true},
    {.gguf = "gemma2",
     .name = "Gemma2ForCausalLM",
     .model_type = "gemma2",
     .names = kGemma2Names,
     .raised = true,
     .more = gemma2},
    {.gguf = "glm4",
     .name = "Glm4ForCausalLM",
     .model_type = "glm4",
     .names = kGlm4Names,
     .partial = true,
     .more = biases},
    {.gguf = "glm4moe",
     .name = "Glm4MoeForCausalLM",
     .model_type = "glm4_moe",
     .names = kGlm4MoeNames,
     .experts = true,
     .accepts = kScoredKeys,
     .partial = true,
     .more = glm4_moe},
    {.gguf = "gpt-oss",
     .name = "GptOssForCausalLM",
     .model_type = "gpt_oss",
     .names = kGptOssNames,
     .experts = true,
     .more = gpt_oss},
    {.gguf = "granite",
     .name = "GraniteForCausalLM",
     .model_type = "granite",
     .names = {},
     .permuted = true,
     .accepts = kGraniteKeys,
     .more = granite},
    {.gguf = "granitehybrid",
     .name = "GraniteMoeHybridForCausalLM",
     .model_type = "granitemoehybrid",
     .names = kGraniteHybridNames,
     .permuted = true,
     .experts = true,
     .expert_names = "block_sparse_moe",
     .accepts = kGraniteKeys,
     .lists = true,
     .more = granite_with_scans},
    {.gguf = "hunyuan-dense",
     .name = "HunYuanDenseV1ForCausalLM",
     .model_type = "hunyuan_v1_dense",
     .names = kHunyuanNames,
     .more = biases},
    {.gguf = "minimax-m2",
     .name = "MiniMaxM2ForCausalLM",
     .model_type = "minimax_m2",
     .names = kMinimaxNames,
     .experts = true,
     .expert_names = "block_sparse_moe.experts",
     .partial = true,
     .more = minimax_m2},
    {.gguf = "mistral3",
     .name = "Ministral3ForCausalLM",
     .model_type = "ministral3",
     .names = {},
     .permuted = true,
     .accepts = kMistralKeys,
     .more = mistral3},
    {.gguf = "nemotron_h",
     .name = "NemotronHForCausalLM",
     .model_type = "nemotron_h",
     .names = kNemotronNames,
     .experts = true,
     .expert_names = "mixer.experts",
     .accepts = kScoredKeys,
     .partial = true,
     .lists = true,
     .more = nemotron_h},
    {.gguf = "nemotron_h_moe",
     .name = "NemotronHForCausalLM",
     .model_type = "nemotron_h",
     .names = kNemotronNames,
     .experts = true,
     .expert_names = "mixer.experts",
     .accepts = kScoredKeys,
     .partial = true,
     .lists = true,
     .more = nemotron_h},
    {.gguf = "olmo2",
     .name = "Olmo2ForCausalLM",
     .model_type = "olmo2",
     .names = kNormsAfter,
     .more = olmo},
    {.gguf = "phi2",
     .name = "PhiForCausalLM",
     .model_type = "phi",
     .names = kPhiNames,
     .layer_norm = true,
     .partial = true},
    {.gguf = "seed_oss",
     .name = "SeedOssForCausalLM",
     .model_type = "seed_oss",
     .names = {},
     .more = seed_oss},
    {.gguf = "stablelm",
     .name = "StableLmForCausalLM",
     .model_type = "stablelm",
     .names = {},
     .accepts = kStablelmKeys,
     .layer_norm = true,
     .partial = true,
     .more = stablelm},
    {.gguf = "starcoder2",
     .name = "Starcoder2ForCausalLM",
     .model_type = "starcoder2",
     .names = kStarcoder2Names,
     .layer_norm = true,
     .more = starcoder2},
    {.gguf = "smollm3",
     .name = "SmolLM3ForCausalLM",
     .model_type = "smollm3",
     .names = {},
     .permuted = true,
     .more = biases},
};

}  // namespace

void biases(Fields& f) {
  f.config.set("attention_bias", f.has_tensor("blk.0.attn_q.bias"));
  f.config.set("mlp_bias", f.has_tensor("blk.0.ffn_gate.bias"));
}

void softcaps(Fields& f) {
  for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (f.has(name)) f.config.set(name, f.positive(name, 1.0));
  }
}

void set_layer_types(Fields& f, uint32_t period) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const Json* pattern = f.reader.find(f.key(kPattern));
  const uint32_t layers = std::min(f.size("block_count"), 4096u);
  const bool has_windows = f.has("attention.sliding_window");
  if (has_windows) f.config.set("sliding_window", f.size("attention.sliding_window"));
  Json::Array types;
  if (has_windows && pattern != nullptr && pattern->is_array()) {
    for (const Json& slides : pattern->as_array()) {
      types.emplace_back(is_true(slides) ? "sliding_attention" : "full_attention");
    }
  } else {
    if (has_windows) period = f.size(kPattern, period);
    for (uint32_t i = 0; i < layers; ++i) {
      const bool slides = has_windows && (i + 1) % period != 0;
      types.emplace_back(slides ? "sliding_attention" : "full_attention");
    }
  }
  f.config.set("layer_types", std::move(types));
}

std::span<const Architecture> families() {
  return kFamilies;
}

}  // namespace tokamak::gguf
