// The metadata of DeepSeek V2 and of what has its attention, which is all deepseek2.
#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

/// The multiplier is a tenth of mscale_all_dim in this architecture only; without it nothing is
/// scaled, cos and sin neither.
void yarn(Fields& f) {
  const Json* scaling = f.config.find("rope_scaling");
  const Json* type = scaling->is_object() ? scaling->find("rope_type") : nullptr;
  if (type == nullptr || *type != Json("yarn")) return;
  constexpr std::string_view kMultiplier = "rope.scaling.yarn_log_multiplier";
  const Json* value = f.reader.find(f.key(kMultiplier));
  const bool is_set = value != nullptr && *value != Json(0) && *value != Json(0.0);
  Json own;
  for (const auto& [name, field] : scaling->as_object()) {
    if (name != "attention_factor") own.set(name, field);
  }
  own.set("attention_factor", f.positive("rope.scaling.attn_factor", 1.0));
  if (is_set) own.set("mscale_all_dim", 10 * f.positive(kMultiplier, 1.0));
  f.replace("rope_scaling", std::move(own));
}

}  // namespace

/// Files before attn_k_b and attn_v_b have the sizes of plain heads as key_length and value_length,
/// later ones those of the latents, and keys of their own for heads.
void deepseek2(Fields& f) {
  const uint32_t turned = f.size("rope.dimension_count"), rank = f.size("attention.kv_lora_rank");
  const bool is_split = f.has("attention.key_length_mla");
  const uint32_t key = f.size(is_split ? "attention.key_length_mla" : "attention.key_length");
  const uint32_t value = f.size(is_split ? "attention.value_length_mla" : "attention.value_length");
  if (key <= turned) f.refuse("rope.dimension_count", "is a whole head");
  if (f.has("attention.q_lora_rank")) f.config.set("q_lora_rank", f.size("attention.q_lora_rank"));
  f.config.set("kv_lora_rank", rank)
      .set("qk_nope_head_dim", key - turned)
      .set("qk_rope_head_dim", turned)
      .set("v_head_dim", value);
  if (f.config.find("partial_rotary_factor") != nullptr) f.replace("partial_rotary_factor", 1.0);
  yarn(f);
  if (f.has("expert_count")) scored_experts(f);
}

}  // namespace tokamak::gguf
