// Qwen3.5 inside GGUF. Reference: llama.cpp's conversion/qwen.py (Qwen3_5TextModel and what it
// derives from) and gguf-py/gguf/tensor_mapping.py.
//
// The differences from the other architectures: the gated delta rule is given in the words of state
// space models; its value heads go by turns through the key heads, where the checkpoint has those
// of one key head side by side, and instead of A_log the file has -exp(A_log). Layers after the
// last one predict further tokens.
#include "model/gguf/architecture.h"

namespace tokamak::gguf {

void qwen3_5(Fields& f) {
  const uint32_t heads = f.size("ssm.time_step_rank"), inner = f.size("ssm.inner_size");
  if (inner % heads != 0) {
    f.refuse("ssm.inner_size", fmt::format("is no multiple of {} (ssm.time_step_rank)", heads));
  }
  f.config.set("linear_num_value_heads", heads)
      .set("linear_num_key_heads", f.size("ssm.group_count"))
      .set("linear_value_head_dim", inner / heads)
      .set("linear_key_head_dim", f.size("ssm.state_size"))
      .set("linear_conv_kernel_dim", f.size("ssm.conv_kernel"))
      .set("full_attention_interval", f.size("full_attention_interval", 4))
      .set("linear_attention_as_gguf", true);
  further_layers(f);
}

void qwen3_5_moe(Fields& f) {
  qwen3_5(f);
  const uint32_t ffn = f.size("expert_feed_forward_length");
  f.config.set("num_experts", f.size("expert_count"))
      .set("num_experts_per_tok", f.size("expert_used_count"))
      .set("moe_intermediate_size", ffn)
      .set("shared_expert_intermediate_size", f.size("expert_shared_feed_forward_length", ffn));
}

/// Value heads stand as in the checkpoint here.
void qwen3_next(Fields& f) {
  qwen3_5_moe(f);
  f.replace("linear_attention_as_gguf", false);
  f.config.set("linear_rates_as_gguf", true);
}

}  // namespace tokamak::gguf
