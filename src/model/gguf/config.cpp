// Metadata to config.json: what all architectures share.
#include <algorithm>
#include <cstring>
#include <optional>

#include "model/gguf/architecture.h"
#include "model/rope_config.h"

namespace tokamak::gguf {
namespace {

constexpr uint64_t kMaxFactors = 4096;  // frequencies of a head
constexpr uint32_t kMaxExperts = 4096;

/// A vector of f32 as a list; null when there is none of that name.
Result<Json> factors(const GgufFile& file, std::string_view name) {
  const TensorInfo* tensor = file.tensors.find(name);
  if (tensor == nullptr) return Json();
  if (tensor->dtype != DType::kF32 || tensor->shape.size() != 1 ||
      tensor->elements() > kMaxFactors) {
    return invalid_input("{}: Tensor \"{}\" is {}, expected f32 and one frequency each.",
                         file.tensors.file_name(*tensor), name, describe(*tensor));
  }
  TOK_TRY(const auto bytes, file.tensors.data(*tensor));
  Json::Array out;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    out.emplace_back(double(value));
  }
  return Json(std::move(out));
}

bool accepts(const Architecture& architecture, std::string_view key) {
  return std::ranges::find(architecture.accepts, key) != architecture.accepts.end();
}

/// Keys that change the answers of a model in ways that no architecture here has.
void refuse_unknown_ways(Fields& f, const Architecture& architecture) {
  for (const char* name :
       {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.output_scale",
        "attention.scale", "attention.temperature_length", "attention.temperature_scale",
        "embedding_scale", "logit_scale", "residual_scale", "expert_shared_count",
        "expert_group_count"}) {
    const Json* value = f.reader.find(f.key(name));
    if (accepts(architecture, name)) continue;
    if (value != nullptr && *value != Json(0) && *value != Json(0.0)) {
      f.refuse(name, "is set");
    }
  }
  if (!architecture.encoder && !f.reader.flag(f.key("attention.causal"), true)) {
    f.refuse("attention.causal", "is false");
  }
  if (!architecture.experts && f.reader.count(f.key("expert_count"), 0) != 0) {
    f.refuse("expert_count", "is not 0");
  }
  if (architecture.experts && f.reader.count(f.key("expert_count"), 0) > kMaxExperts) {
    f.refuse("expert_count", fmt::format("is more than {}", kMaxExperts));
  }
}

/// The first files have the factor of linear scaling under another key. 0 says 1.
double scaling_factor(Fields& f) {
  for (const char* name : {"rope.scaling.factor", "rope.scale_linear"}) {
    const Json* value = f.reader.find(f.key(name));
    if (value == nullptr) continue;
    return *value == Json(0) || *value == Json(0.0) ? 1.0 : f.positive(name, 1.0);
  }
  return 1.0;
}

/// YaRN as llama.cpp has it: attn_factor is a further factor of cos and sin, and log_multiplier is
/// mscale_all_dim. Its own yarn_attn_factor has no effect there where YaRN is on.
void set_yarn(Fields& f, double factor, uint32_t original, Json& scaling) {
  scaling.set("rope_type", "yarn").set("factor", factor);
  scaling.set("original_max_position_embeddings", original);
  scaling.set("beta_fast", f.positive("rope.scaling.yarn_beta_fast", 32.0));
  scaling.set("beta_slow", f.positive("rope.scaling.yarn_beta_slow", 1.0));
  double magnitude = yarn_magnitude(factor, 1.0) * f.positive("rope.scaling.attn_factor", 1.0);
  const Json* multiplier = f.reader.find(f.key("rope.scaling.yarn_log_multiplier"));
  if (multiplier != nullptr && *multiplier != Json(0) && *multiplier != Json(0.0)) {
    magnitude /= yarn_magnitude(factor, f.positive("rope.scaling.yarn_log_multiplier", 1.0));
  }
  scaling.set("attention_factor", magnitude);
  const Json* extrapolation = f.reader.find(f.key("rope.scaling.yarn_ext_factor"));
  const bool usual = extrapolation == nullptr ||
                     (extrapolation->is_number() && (extrapolation->as_number() < 0 ||  // unset
                                                     extrapolation->as_number() == 1));
  if (!usual) f.refuse("rope.scaling.yarn_ext_factor", "is not 1");
}

/// One scaling at most: a type with its factor, or divisors in tensors.
Result<void> set_rope(Fields& f, bool partial, uint32_t head_dim, uint32_t max_positions) {
  f.config.set("rope_theta", f.positive("rope.freq_base", 10000.0));
  const uint32_t turned = f.size("rope.dimension_count", head_dim);
  if (turned != head_dim) {
    if (!partial) f.refuse("rope.dimension_count", "is not a whole head");
    f.config.set("partial_rotary_factor", double(turned) / double(head_dim));
  }
  TOK_TRY(Json divisors, factors(f.file, "rope_freqs.weight"));
  TOK_TRY(Json far, factors(f.file, "rope_factors_long.weight"));
  TOK_TRY(Json near, factors(f.file, "rope_factors_short.weight"));

  const double factor = scaling_factor(f);
  std::string type = f.reader.word(f.key("rope.scaling.type"), "linear");
  if (type == "linear" && factor == 1.0) type = "none";
  Json scaling;
  const uint32_t original = f.size("rope.scaling.original_context_length", max_positions);
  if (!far.is_null() || !near.is_null()) {
    scaling.set("rope_type", "longrope");
    scaling.set("long_factor", std::move(far)).set("short_factor", std::move(near));
    if (f.has("rope.scaling.attn_factor")) {
      scaling.set("attention_factor", f.positive("rope.scaling.attn_factor", 1.0));
    }
    f.config.set("original_max_position_embeddings", original);
  } else if (!divisors.is_null()) {
    if (type != "none") f.refuse("rope.scaling.type", "is set beside rope_freqs.weight");
    scaling.set("rope_type", "explicit").set("divisors", std::move(divisors));
  } else if (type == "yarn") {
    set_yarn(f, factor, original, scaling);
  } else if (type != "none") {
    scaling.set("rope_type", type).set("factor", factor);
    if (type != "linear") scaling.set("original_max_position_embeddings", original);
  }
  f.config.set("rope_scaling", std::move(scaling));
  return {};
}

/// A number, or where `lists` one per layer, of which the largest counts.
uint32_t largest(Fields& f, std::string_view name, bool lists, std::optional<uint32_t> otherwise) {
  const Json* value = f.reader.find(f.key(name));
  if (value == nullptr || !value->is_array() || !lists) {
    return otherwise ? f.size(name, *otherwise) : f.size(name);
  }
  int64_t most = 1;
  for (const Json& one : value->as_array()) {
    if (one.is_integer()) most = std::max(most, one.as_integer());
  }
  return uint32_t(std::min<int64_t>(most, INT32_MAX));
}

}  // namespace

std::string Fields::key(std::string_view name) const {
  return fmt::format("{}.{}", architecture, name);
}

void Fields::refuse(std::string_view name, std::string_view why) {
  reader.reject(
      {ErrorCode::kUnsupported,
       fmt::format("{} {}; this engine does not run such models.", reader.path(key(name)), why)});
}

void Fields::replace(std::string_view name, Json value) {
  for (auto& [key, old] : config.as_object()) {
    if (key == name) old = std::move(value);
  }
}

Result<Json> make_config(const GgufFile& file, const Architecture& architecture) {
  ConfigReader reader(file.metadata.values(), file.metadata.file_name());
  Fields f{file, reader, std::string(architecture.gguf), Json()};
  f.config.set("architectures", Json::Array{architecture.name});
  f.config.set("model_type", architecture.model_type);
  const uint32_t hidden = f.size("embedding_length"), heads = f.size("attention.head_count");
  const uint32_t head_dim = f.size("attention.key_length", std::max(hidden / heads, 1u));
  const uint32_t positions = f.size("context_length");
  f.config.set("hidden_size", hidden);
  f.config.set("num_hidden_layers", f.size("block_count"));
  f.config.set("num_attention_heads", heads)
      .set("num_key_value_heads", largest(f, "attention.head_count_kv", architecture.lists, heads));
  f.config.set("head_dim", head_dim);
  // A model with experts in every layer may have no other MLP.
  const bool is_all_experts = f.has("expert_feed_forward_length") && !f.has("feed_forward_length");
  f.config.set("intermediate_size",
               largest(f, is_all_experts ? "expert_feed_forward_length" : "feed_forward_length",
                       architecture.lists, {}));
  f.config.set("max_position_embeddings", positions);
  if (architecture.layer_norm) {
    f.config.set("layer_norm_eps", reader.positive(f.key("attention.layer_norm_epsilon")));
  } else {
    f.config.set("rms_norm_eps", reader.positive(f.key("attention.layer_norm_rms_epsilon")));
  }
  if (f.size("attention.value_length", head_dim) != head_dim &&
      !accepts(architecture, "attention.value_length")) {
    f.refuse("attention.value_length", "is not attention.key_length");
  }
  const TensorInfo* table = file.tensors.find("token_embd.weight");
  if (table == nullptr || table->shape.size() != 2) {
    return invalid_input("{}: The file has no matrix \"token_embd.weight\".",
                         file.metadata.file_name());
  }
  f.config.set("vocab_size", table->shape[0]);
  f.config.set("tie_word_embeddings", !f.has_tensor("output.weight"));
  refuse_unknown_ways(f, architecture);
  TOK_TRY(reader.status());
  TOK_TRY(set_rope(f, architecture.partial, head_dim, positions));
  if (architecture.more != nullptr) architecture.more(f);
  TOK_TRY(reader.status());
  return std::move(f.config);
}

}  // namespace tokamak::gguf
