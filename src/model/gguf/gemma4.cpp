// Gemma 4 inside GGUF. Reference: llama.cpp's conversion/gemma.py (Gemma4Model) and
// gguf-py/gguf/constants.py.
//
// The differences from the other architectures: full layers have key_length and sliding ones
// key_length_swa; the heads of keys and values and the sizes of MLPs may be lists with a number per
// layer; rope_freqs.weight holds 1 for the pairs of a full layer that turn and 1e30 for the others.
#include <algorithm>
#include <cstring>

#include "model/decoder_fields.h"
#include "model/gguf/architecture.h"

namespace tokamak::gguf {
namespace {

constexpr float kStill = 1e20f;  // a pair whose frequency is divided by more does not turn

/// Which layers slide: a list, or the period of those that do not.
std::vector<bool> sliding_layers(Fields& f, uint32_t layers) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  std::vector<bool> out(layers);
  const Json* pattern = f.reader.find(f.key(kPattern));
  if (pattern != nullptr && pattern->is_array()) {
    const Json::Array& list = pattern->as_array();
    for (uint32_t i = 0; i < layers; ++i) out[i] = i < list.size() && is_true(list[i]);
    return out;
  }
  const uint32_t period = f.size(kPattern, 6);
  for (uint32_t i = 0; i < layers; ++i) out[i] = (i + 1) % period != 0;
  return out;
}

/// The number of a list for the first layer of a kind; the number itself where it is one for all.
uint32_t of_kind(Fields& f, std::string_view name, const std::vector<bool>& sliding, bool wanted) {
  const Json* value = f.reader.find(f.key(name));
  if (value == nullptr || !value->is_array()) return f.size(name);
  const auto at = size_t(std::ranges::find(sliding, wanted) - sliding.begin());
  const Json::Array& list = value->as_array();
  const bool known = at < list.size() && list[at].is_integer() && list[at].as_integer() > 0 &&
                     list[at].as_integer() <= INT32_MAX;
  return known ? uint32_t(list[at].as_integer()) : 1;
}

/// The layers that read the cache of others may have MLPs twice as wide.
void set_widths(Fields& f, uint32_t layers, uint32_t shared) {
  constexpr std::string_view kName = "feed_forward_length";
  const Json* value = f.reader.find(f.key(kName));
  if (value == nullptr || !value->is_array()) return;
  const Json::Array& list = value->as_array();
  if (list.size() != layers || !list.front().is_integer()) {
    return f.refuse(kName, fmt::format("is no list of {} sizes", layers));
  }
  const int64_t width = list.front().as_integer();
  if (width < 1 || width > INT32_MAX / 2) {
    return f.refuse(kName, fmt::format("has {} for layer 0", width));
  }
  const bool wide = shared > 0 && list.back() == Json(2 * width);
  for (uint32_t i = 0; i < layers; ++i) {
    if (list[i] != Json(wide && i + shared >= layers ? 2 * width : width)) {
      return f.refuse(kName, fmt::format("has {} for layer {}", list[i].dump(), i));
    }
  }
  f.replace("intermediate_size", width);
  f.config.set("use_double_wide_mlp", wide);
}

/// The part of a full layer's pairs that turn.
double turning_part(Fields& f, uint32_t head_dim) {
  constexpr std::string_view kName = "rope_freqs.weight";
  const TensorInfo* tensor = f.file.tensors.find(kName);
  if (tensor == nullptr) return 1.0;
  const auto bytes = f.file.tensors.data(*tensor);
  const uint64_t pairs = head_dim / 2;
  if (bytes && tensor->dtype == DType::kF32 && bytes->size() == pairs * sizeof(float)) {
    std::vector<float> divisors(static_cast<size_t>(pairs));
    std::memcpy(divisors.data(), bytes->data(), bytes->size());
    const auto still = std::ranges::find_if(divisors, [](float d) { return d != 1.0f; });
    const bool plain = std::all_of(still, divisors.end(), [](float d) { return d > kStill; });
    if (plain && still != divisors.begin()) return double(still - divisors.begin()) / double(pairs);
  }
  f.reader.reject(
      {ErrorCode::kUnsupported,
       fmt::format("{}: Tensor \"{}\" is {}, expected f32[{}] of ones, then of 1e30 for "
                   "pairs that do not turn.",
                   f.file.tensors.file_name(*tensor), kName, describe(*tensor), pairs)});
  return 1.0;
}

}  // namespace

void gemma4(Fields& f) {
  const uint32_t layers = std::min(f.size("block_count"), kMaxLayers);
  const uint32_t full_dim = f.size("attention.key_length");
  const uint32_t sliding_dim = f.size("attention.key_length_swa", full_dim);
  const uint32_t shared = f.reader.count(f.key("attention.shared_kv_layers"), 0);
  const std::vector<bool> sliding = sliding_layers(f, layers);
  Json::Array types;
  bool k_is_v = false;  // full layers have no values of their own
  for (uint32_t i = 0; i < layers; ++i) {
    types.emplace_back(sliding[i] ? "sliding_attention" : "full_attention");
    const bool own = !sliding[i] && i + shared < layers;
    if (own && !f.has_tensor(fmt::format("blk.{}.attn_v.weight", i))) k_is_v = true;
  }
  f.config.set("layer_types", std::move(types));
  f.replace("head_dim", sliding_dim);
  f.config.set("global_head_dim", full_dim);
  f.replace("num_key_value_heads", of_kind(f, "attention.head_count_kv", sliding, true));
  f.config.set("num_global_key_value_heads", of_kind(f, "attention.head_count_kv", sliding, false));
  f.config.set("attention_k_eq_v", k_is_v).set("num_kv_shared_layers", shared);
  f.config.set("sliding_window", f.size("attention.sliding_window"));
  set_widths(f, layers, shared);
  if (f.has("final_logit_softcapping")) {
    f.config.set("final_logit_softcapping", f.positive("final_logit_softcapping", 1.0));
  }
  if (f.size("attention.value_length_swa", sliding_dim) != sliding_dim) {
    f.refuse("attention.value_length_swa", "is not attention.key_length_swa");
  }
  if (f.size("rope.dimension_count_swa", sliding_dim) != sliding_dim) {
    f.refuse("rope.dimension_count_swa", "is not a whole head");
  }

  const uint32_t ple = f.reader.count(f.key("embedding_length_per_layer_input"), 0);
  const TensorInfo* table = f.file.tensors.find("per_layer_token_embd.weight");
  f.config.set("hidden_size_per_layer_input", ple);
  if (table != nullptr && !table->shape.empty()) {
    f.config.set("vocab_size_per_layer_input", table->shape[0]);
  }
  const uint32_t experts = f.reader.count(f.key("expert_count"), 0);
  f.config.set("enable_moe_block", experts != 0);
  if (experts != 0) {
    f.config.set("num_experts", experts).set("top_k_experts", f.size("expert_used_count"));
    f.config.set("moe_intermediate_size", f.size("expert_feed_forward_length"));
  }

  Json full, slides, ropes;
  full.set("rope_type", "proportional").set("rope_theta", f.positive("rope.freq_base", 1e6));
  full.set("partial_rotary_factor", turning_part(f, full_dim));
  slides.set("rope_type", "default").set("rope_theta", f.positive("rope.freq_base_swa", 1e4));
  ropes.set("full_attention", std::move(full)).set("sliding_attention", std::move(slides));
  f.config.set("rope_parameters", std::move(ropes));
  // Its frequencies in rope_freqs.weight are those of "proportional"; another scaling would be
  // lost.
  const Json scaling = *f.config.find("rope_scaling");
  if (!scaling.is_null() && *scaling.find("rope_type") != Json("explicit")) {
    f.refuse("rope.scaling.type", "is set");
  }
  f.replace("rope_scaling", Json());
}

}  // namespace tokamak::gguf
