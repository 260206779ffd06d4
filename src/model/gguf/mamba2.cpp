// Decoders with the selective scan of Mamba-2 inside GGUF. Reference: llama.cpp's
// conversion/granite.py and falcon_h1.py, and what they derive from in mamba.py.
//
// The differences from the other architectures: instead of A_log the file has -exp(A_log), and
// numbers per head are columns; Falcon-H1's factors are multiplied into its weights.
#include <algorithm>

#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

bool has_bias(Fields& f) {
  const uint32_t layers = std::min(f.size("block_count"), 4096u);
  bool has_one = false;
  for (uint32_t i = 0; i < layers; ++i) {
    has_one = has_one || f.has_tensor(fmt::format("blk.{}.ssm_conv1d.bias", i));
  }
  return has_one;
}

/// Whether a key's list has another number than 0 for a layer.
bool is_listed(const Fields& f, std::string_view name, uint32_t layer) {
  const Json* const list = f.reader.find(f.key(name));
  return list != nullptr && list->is_array() && layer < list->as_array().size() &&
         list->as_array()[layer] != Json(0);
}

void set_scan(Fields& f) {
  const uint32_t heads = f.size("ssm.time_step_rank"), inner = f.size("ssm.inner_size");
  f.config.set("mamba_n_heads", heads)
      .set("mamba_d_ssm", inner)
      .set("mamba_n_groups", f.size("ssm.group_count", 1))
      .set("mamba_d_state", f.size("ssm.state_size"))
      .set("mamba_d_conv", f.size("ssm.conv_kernel"))
      .set("mamba_conv_bias", has_bias(f))
      .set("mamba_as_gguf", true);
}

/// The rows of a matrix of the first layer; 0 where there is none.
uint64_t rows_of(const Fields& f, std::string_view name) {
  const TensorInfo* const found = f.file.tensors.find(name);
  return found == nullptr || found->shape.empty() ? 0 : found->shape[0];
}

}  // namespace

void granite_hybrid(Fields& f) {
  const Json* const kv_heads = f.reader.find(f.key("attention.head_count_kv"));
  const uint32_t layers = std::min(f.size("block_count"), 4096u);
  Json::Array types;
  for (uint32_t i = 0; i < layers; ++i) {
    const bool listed = kv_heads != nullptr && kv_heads->is_array();
    const bool scans =
        listed && i < kv_heads->as_array().size() && kv_heads->as_array()[i] == Json(0);
    types.emplace_back(scans ? "mamba" : "attention");
  }
  const bool turns = f.reader.flag(f.key("rope.scaling.finetuned"), true);
  const uint32_t experts = f.reader.count(f.key("expert_count"), 0);
  const char* const gate = experts == 0 ? "blk.0.ffn_gate.weight" : "blk.0.ffn_gate_shexp.weight";
  f.config.set("layer_types", std::move(types))
      .set("position_embedding_type", turns ? "rope" : "nope")
      .set("num_local_experts", experts)
      .set("num_experts", experts)
      .set("shared_intermediate_size", rows_of(f, gate));
  if (experts != 0) f.config.set("num_experts_per_tok", f.size("expert_used_count"));
  set_scan(f);
}

void falcon_h1(Fields& f) {
  set_scan(f);
  f.config.set("mamba_rms_norm", f.has_tensor("blk.0.ssm_norm.weight"))
      .set("mamba_norm_before_gate", false);
}

void nemotron_h(Fields& f) {
  const uint32_t heads = f.size("ssm.time_step_rank"), inner = f.size("ssm.inner_size");
  const uint32_t layers = std::min(f.size("block_count"), 4096u);
  if (inner % heads != 0) {
    f.refuse("ssm.inner_size", fmt::format("is no multiple of {} (ssm.time_step_rank)", heads));
  }
  std::string pattern;
  for (uint32_t i = 0; i < layers; ++i) {
    const bool has_experts = f.has_tensor(fmt::format("blk.{}.ffn_gate_inp.weight", i));
    pattern += is_listed(f, "attention.head_count_kv", i) ? '*'
               : has_experts                              ? 'E'
               : is_listed(f, "feed_forward_length", i)   ? '-'
                                                          : 'M';
  }
  f.config.set("hybrid_override_pattern", pattern)
      .set("layer_norm_epsilon", f.positive("attention.layer_norm_rms_epsilon", 1e-5))
      .set("mamba_num_heads", heads)
      .set("mamba_head_dim", inner / heads)
      .set("n_groups", f.size("ssm.group_count", 1))
      .set("ssm_state_size", f.size("ssm.state_size"))
      .set("conv_kernel", f.size("ssm.conv_kernel"))
      .set("use_conv_bias", has_bias(f))
      .set("mamba_as_gguf", true);
  if (f.reader.count(f.key("expert_count"), 0) == 0) return;
  scored_experts(f);
  f.config.set("moe_shared_expert_intermediate_size",
               f.reader.count(f.key("expert_shared_feed_forward_length"), 0));
}

}  // namespace tokamak::gguf
