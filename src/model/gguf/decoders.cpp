// More architectures of GGUF files whose graph is the generic decoder's. Reference: llama.cpp's
// conversion/ and src/models/.
#include <cmath>

#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

constexpr Rename kApertusNames[] = {
    {"attn_norm", "attention_layernorm"},
    {"ffn_norm", "feedforward_layernorm"},
};
constexpr Rename kGpt2Names[] = {
    {"attn_norm", "ln_1"},
    {"attn_output", "attn.c_proj"},
    {"attn_qkv", "attn.c_attn"},
    {"ffn_down", "mlp.c_proj"},
    {"ffn_norm", "ln_2"},
    {"ffn_up", "mlp.c_fc"},
    {"output_norm", "transformer.ln_f"},
    {"position_embd", "transformer.wpe"},
    {"token_embd", "transformer.wte"},
};
constexpr Rename kGptNeoxNames[] = {
    {"attn_output", "attention.dense"},
    {"attn_qkv", "attention.query_key_value"},
    {"ffn_down", "mlp.dense_4h_to_h"},
    {"ffn_up", "mlp.dense_h_to_4h"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"token_embd", "gpt_neox.embed_in"},
};
constexpr Rename kLlama4Names[] = {
    {"ffn_down", "feed_forward.down_proj"},
    {"ffn_down_shexp", "feed_forward.shared_expert.down_proj"},
    {"ffn_gate", "feed_forward.gate_proj"},
    {"ffn_gate_inp", "feed_forward.router"},
    {"ffn_gate_shexp", "feed_forward.shared_expert.gate_proj"},
    {"ffn_up", "feed_forward.up_proj"},
    {"ffn_up_shexp", "feed_forward.shared_expert.up_proj"},
};

/// The activation's numbers, as in tensors.
void apertus(Fields& f) {
  biases(f);
  for (const char* name : {"alpha_p", "alpha_n", "beta"}) {
    const Json* const list = f.reader.find(f.key(fmt::format("xielu.{}", name)));
    if (list != nullptr) f.config.set(fmt::format("xielu_{}", name), *list);
  }
}

void gpt2(Fields& f) {
  const uint32_t hidden = f.size("embedding_length");
  f.config.set("n_embd", hidden)
      .set("n_layer", f.size("block_count"))
      .set("n_head", f.size("attention.head_count"))
      .set("n_inner", f.size("feed_forward_length", 4 * hidden))
      .set("n_positions", f.size("context_length"))
      .set("layer_norm_epsilon", f.positive("attention.layer_norm_epsilon", 1e-5));
}

/// The rows of q, k and v have been put in order.
void gpt_neox(Fields& f) {
  f.config.set("use_parallel_residual", f.reader.flag(f.key("use_parallel_residual"), true))
      .set("attention_bias", f.has_tensor("blk.0.attn_qkv.bias"))
      .set("joined_qkv_as_gguf", true);
}

constexpr std::string_view kCohereKeys[] = {"logit_scale"};
void command_r(Fields& f) {
  biases(f);
  f.config.set("logit_scale", f.positive("logit_scale", 0.0625))
      .set("use_qk_norm", f.has_tensor("blk.0.attn_q_norm.weight"));
}

constexpr std::string_view kLlama4Keys[] = {"expert_shared_count", "attention.temperature_scale",
                                            "attention.temperature_length"};
/// The model with 128 experts has no norms of heads; no field shows it.
void llama4(Fields& f) {
  constexpr uint32_t kExpertsWithoutNorms = 128;
  const uint32_t experts = f.size("expert_count");
  f.config.set("num_experts", experts)
      .set("num_local_experts", experts)
      .set("num_experts_per_tok", f.size("expert_used_count"))
      .set("interleave_moe_layer_step", f.size("interleave_moe_layer_step", 1))
      .set("intermediate_size_mlp", f.size("feed_forward_length"))
      .set("use_qk_norm", experts != kExpertsWithoutNorms)
      .set("attn_scale", f.positive("attention.temperature_scale", 0.1))
      .set("floor_scale", f.size("attention.temperature_length", 8192))
      .set("attention_chunk_size", f.size("attention.chunk_size", 8192));
  f.replace("intermediate_size", f.size("expert_feed_forward_length"));
}

constexpr std::string_view kMiniCpmKeys[] = {"embedding_scale", "logit_scale", "residual_scale"};
/// Older files leave out the factors, which are those of the 2B model then.
void minicpm(Fields& f) {
  biases(f);
  const double layers = f.size("block_count"), hidden = f.size("embedding_length");
  const double head_dim = f.size("attention.key_length",
                                 std::max(uint32_t(hidden) / f.size("attention.head_count"), 1u));
  f.config.set("embedding_multiplier", f.positive("embedding_scale", 12.0))
      .set("residual_multiplier", f.positive("residual_scale", 1.4 / std::sqrt(layers)))
      .set("attention_multiplier", 1.0 / std::sqrt(head_dim))
      .set("logits_scaling", f.positive("logit_scale", hidden / 256.0));
}

constexpr Architecture kDecoders[] = {
    {.gguf = "apertus",
     .name = "ApertusForCausalLM",
     .model_type = "apertus",
     .names = kApertusNames,
     .more = apertus},
    {.gguf = "arcee",
     .name = "ArceeForCausalLM",
     .model_type = "arcee",
     .names = {},
     .permuted = true,
     .more = biases},
    {.gguf = "command-r",
     .name = "CohereForCausalLM",
     .model_type = "cohere",
     .names = {},
     .accepts = kCohereKeys,
     .layer_norm = true,
     .more = command_r},
    {.gguf = "gpt2",
     .name = "GPT2LMHeadModel",
     .model_type = "gpt2",
     .names = kGpt2Names,
     .layers = "transformer.h.",
     .layer_norm = true,
     .more = gpt2},
    {.gguf = "gptneox",
     .name = "GPTNeoXForCausalLM",
     .model_type = "gpt_neox",
     .names = kGptNeoxNames,
     .layers = "gpt_neox.layers.",
     .layer_norm = true,
     .partial = true,
     .more = gpt_neox},
    {.gguf = "internlm2",
     .name = "LlamaForCausalLM",
     .model_type = "llama",
     .names = {},
     .permuted = true,
     .more = biases},
    {.gguf = "llama4",
     .name = "Llama4ForCausalLM",
     .model_type = "llama4_text",
     .names = kLlama4Names,
     .experts = true,
     .expert_names = "feed_forward.experts",
     .accepts = kLlama4Keys,
     .more = llama4},
    {.gguf = "minicpm",
     .name = "GraniteForCausalLM",
     .model_type = "granite",
     .names = {},
     .permuted = true,
     .accepts = kMiniCpmKeys,
     .more = minicpm},
};

}  // namespace

std::span<const Architecture> decoders() {
  return kDecoders;
}

}  // namespace tokamak::gguf
