#include "quantize/plan.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/check.h"
#include "formats/gguf_types.h"
#include "model/gguf/import.h"
#include "quantize/encode.h"

namespace tokamak {
namespace {

constexpr std::string_view kOutput = "output.weight", kEmbedding = "token_embd.weight";

/// Parts of names of tensors that stay: small ones that routes, states and positions depend on.
/// Reference: llama.cpp, src/llama-quant.cpp, tensor_allows_quantization().
constexpr std::string_view kKept[] = {
    "_norm.weight",         "ffn_gate_inp",  "altup",           "laurel",
    "per_layer_model_proj", "position_embd", "token_types",     "ssm_conv1d",
    "shortconv.conv",       "attn_rel_b",    "time_mix_first",  "time_mix_w0",
    "time_mix_w1",          "time_mix_w2",   "time_mix_v0",     "time_mix_v1",
    "time_mix_v2",          "time_mix_a0",   "time_mix_a1",     "time_mix_a2",
    "time_mix_g1",          "time_mix_g2",   "time_mix_decay_", "time_mix_lerp_fused",
};

DType named(std::string_view type) {
  const auto dtype = dtype_from_name(type);
  TOK_CHECK(dtype.has_value());
  return *dtype;
}

uint64_t metadata_number(const GgufFile& file, std::string_view key) {
  const Json& values = file.metadata.values();
  const Json* architecture = values.find("general.architecture");
  if (architecture == nullptr || !architecture->is_string()) return 0;
  const Json* value = values.find(fmt::format("{}.{}", architecture->as_string(), key));
  if (value == nullptr || !value->is_integer() || value->as_integer() < 0) return 0;
  return uint64_t(value->as_integer());
}

/// The N of "blk.N."; 0 for other names.
uint32_t layer_of(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  uint32_t layer = 0;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
  }
  return layer;
}

/// The facts about a model that types depend on.
class Model {
 public:
  explicit Model(const GgufFile& file)
      : has_output_(file.tensors.find(kOutput) != nullptr),
        experts_(metadata_number(file, "expert_count")) {
    for (const TensorInfo& tensor : file.tensors.tensors()) {
      const std::string_view name = tensor.name;
      layers_ = std::max(layers_, layer_of(name) + 1);
      if (name.contains("attn_v.weight")) values_.push_back(layer_of(name));
      for (const std::string_view part : {"attn_v.weight", "attn_qkv.weight", "attn_kv_b.weight"}) {
        if (name.contains(part)) ++attentions_;
      }
    }
    std::ranges::sort(values_);
    const uint64_t heads = metadata_number(file, "attention.head_count");
    is_70b_ = layers_ == 80 && heads != metadata_number(file, "attention.head_count_kv") &&
              file.metadata.values().find("llama.block_count") != nullptr;
  }

  /// The type by the rules of a mix; what has the columns for it is another question.
  DType type_of(const TargetType& target, std::string_view name) const {
    if (!target.is_mix) return named(target.type);
    if (is_output(name)) return DType::kQ6_K;
    const bool is_value = name.contains("attn_v.weight");
    if (experts_ == 8) {
      if (is_value || name.contains("attn_k.weight")) return DType::kQ8_0;
      if (name.contains("attn_output.weight")) {
        return target.name == "q3_k_l" ? named(target.type) : DType::kQ5_K;
      }
    }
    DType type = named(target.type);
    for (const MixRule& rule : target.rules) {
      if (!name.contains(rule.part)) continue;
      const uint32_t layer = is_value ? rank_of(name) : layer_of(name);
      if (!is_in(rule.layers, layer, is_value ? attentions_ : layers_)) continue;
      type = named(rule.type);
      break;
    }
    const bool is_low = type == named("q3_k") || type == DType::kQ4_K;
    return is_value && is_70b_ && is_low ? DType::kQ5_K : type;
  }

  /// The tensor that gives the logits.
  bool is_output(std::string_view name) const {
    return name == kOutput || (!has_output_ && name == kEmbedding);
  }

 private:
  /// The number of the layer among those with such a tensor.
  uint32_t rank_of(std::string_view name) const {
    return uint32_t(std::ranges::lower_bound(values_, layer_of(name)) - values_.begin());
  }

  bool has_output_, is_70b_ = false;
  uint64_t experts_;
  uint32_t layers_ = 0, attentions_ = 0;
  std::vector<uint32_t> values_;  // layers with a tensor for values, sorted
};

/// Why a tensor stays as it is; "" for those that are written in another type.
std::string_view reason_to_stay(const GgufFile& file, const TensorInfo& tensor) {
  const auto wide = std::ranges::count_if(tensor.shape, [](uint64_t extent) { return extent > 1; });
  if (wide < 2 || tensor.shape.size() < 2) return "no matrix";
  if (!tensor.name.ends_with("weight")) return "no weight";
  if (!is_matrix_dtype(tensor.dtype)) return "no floats";
  for (const std::string_view part : kKept) {
    if (tensor.name.contains(part)) return "small";
  }
  const std::string stem = tensor.name.substr(0, tensor.name.size() - std::string("weight").size());
  if (file.tensors.find(stem + "scale") != nullptr) return "has a factor of its own";
  return "";
}

/// The type for rows that are no whole blocks of the wanted one. Reference: llama.cpp,
/// tensor_type_fallback(), but for types that are not written here.
DType fallback(DType type) {
  if (type == DType::kQ4_K) return DType::kQ5_0;
  if (type == DType::kQ5_K) return DType::kQ5_1;
  if (type == DType::kQ6_K) return DType::kQ8_0;
  return DType::kQ4_0;
}

void set_type(TensorPlan& plan, DType type) {
  const uint64_t columns = plan.from->shape.back();
  const auto divides = [&](DType t) { return columns % gguf_block(t).weights == 0; };
  if (!divides(type)) {
    const DType wanted = type;
    type = gguf_block(wanted).weights == 256 ? fallback(wanted) : DType::kF16;
    if (!divides(type)) type = DType::kF16;
    plan.note = fmt::format("{} columns are no blocks of {}: in place of {}", columns,
                            gguf_block(wanted).weights, dtype_name(wanted));
  }
  const GgufBlock block = gguf_block(type);
  plan.is_rounded = type != plan.from->dtype;
  plan.to.dtype = type;
  plan.to.bytes = plan.from->elements() / block.weights * block.bytes;
}

}  // namespace

Result<TypeOverride> parse_override(const std::string& text) {
  const size_t split = text.rfind('=');
  if (split == text.npos || split == 0) {
    return fail(ErrorCode::kUsage, "\"{}\" is not PATTERN=TYPE, such as attn_v=q6_k.", text);
  }
  TOK_TRY(const TargetType* target, find_target_type(text.substr(split + 1)));
  if (target->is_mix) {
    return fail(ErrorCode::kUsage, "\"{}\": {} is a mix of types; give one of them, such as {}.",
                text, target->name, target->type);
  }
  auto pattern = Regex::compile(std::string_view(text).substr(0, split));
  if (!pattern) {
    return fail(ErrorCode::kUsage, "\"{}\": {}", text, pattern.error().message);
  }
  return TypeOverride{text, *std::move(pattern), named(target->type)};
}

Result<QuantizationPlan> plan_quantization(const GgufFile& file, const TargetType& target,
                                           const std::vector<TypeOverride>& overrides) {
  const Model model(file);
  QuantizationPlan plan;
  const auto number = gguf_file_type_number(target.file_type);
  TOK_CHECK(number.has_value());
  plan.file_type = *number;
  std::vector<bool> used(overrides.size());
  for (const TensorInfo& tensor : file.tensors.tensors()) {
    TensorPlan one{&tensor, tensor, std::string(reason_to_stay(file, tensor)), false};
    if (one.note.empty()) {
      DType type = model.type_of(target, tensor.name);
      for (size_t i = 0; i < overrides.size(); ++i) {
        std::vector<TextRange> matches;
        TOK_TRY(overrides[i].pattern.find_all(tensor.name, matches));
        if (matches.empty()) continue;
        used[i] = true;
        type = overrides[i].type;
        break;
      }
      set_type(one, type);
      if (one.is_rounded && is_packed(tensor.dtype)) ++plan.packed;
    } else {
      one.note = "stays: " + one.note;
    }
    plan.old_bytes += tensor.bytes;
    plan.new_bytes += one.to.bytes;
    plan.tensors.push_back(std::move(one));
  }
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (used[i]) continue;
    return fail(ErrorCode::kUsage,
                "\"{}\" matches no matrix, or only those that an earlier pattern does; "
                "--dry-run lists their names.",
                overrides[i].text);
  }
  std::ranges::sort(plan.tensors, {}, [](const TensorPlan& one) {
    return std::tie(one.from->shard, one.from->offset);
  });
  return plan;
}

}  // namespace tokamak
