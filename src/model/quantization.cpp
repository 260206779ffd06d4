#include "model/quantization.h"

#include <algorithm>
#include <optional>

namespace tokamak {
namespace {

constexpr std::string_view kBeside = "quantize_config.json";

constexpr std::string_view kReads = "this engine reads MLX's affine packing and GPTQ";

/// The first tensor that is no plain matrix or vector of floats.
const TensorInfo* packed_example(const TensorFile& file) {
  for (const TensorInfo& tensor : file.tensors()) {
    if (!is_float_weight(tensor.dtype)) return &tensor;
  }
  return nullptr;
}

Failure unreadable(const ConfigReader& reader, std::string_view field, std::string_view value,
                   const TensorFile& file) {
  const TensorInfo* example = packed_example(file);
  if (example == nullptr) {
    return unsupported("{} is \"{}\"; {}.", reader.path(field), value, kReads);
  }
  return unsupported("{} is \"{}\", as of tensor \"{}\", {}; {}.", reader.path(field), value,
                     example->name, describe(*example), kReads);
}

enum class Method : uint8_t { kAffine, kGptq };

Result<uint32_t> read_bits(ConfigReader& reader, Method method) {
  const uint32_t bits = reader.size("bits");
  TOK_TRY(reader.status());
  const std::string_view expected = method == Method::kAffine ? "4 or 8" : "4";
  if (bits == 4 || (bits == 8 && method == Method::kAffine)) return bits;
  if (bits >= 2 && bits <= 8) {
    return unsupported("{} is {}; this engine reads {}.", reader.path("bits"), bits, expected);
  }
  return invalid_input("{} is {}, expected {}.", reader.path("bits"), bits, expected);
}

Result<uint32_t> read_group(ConfigReader& reader, Method method) {
  const Json* value = reader.find("group_size");
  const bool whole_row = method == Method::kGptq && value != nullptr && *value == Json(-1);
  if (whole_row) return 0;
  const uint32_t group =
      value == nullptr ? reader.size("group_size") : reader.count("group_size", 0);
  TOK_TRY(reader.status());
  if (group == 32 || group == 64 || group == 128) return group;
  if (method == Method::kGptq && group != 0 && group % 128 == 0) return group;
  return invalid_input("{} is {}, expected 32, 64 or 128.", reader.path("group_size"), group);
}

Result<Quantization::Numbers> read_numbers(ConfigReader reader, Method method) {
  Quantization::Numbers numbers;
  TOK_TRY(numbers.bits, read_bits(reader, method));
  TOK_TRY(numbers.group, read_group(reader, method));
  return numbers;
}

/// Newer writers say "format". The second format stores zeros that are not one too small.
Result<void> check_format(ConfigReader& reader, const TensorFile& file) {
  for (const char* field : {"checkpoint_format", "format"}) {
    const std::string format = reader.word(field, "gptq");
    if (format != "gptq") return unreadable(reader, field, format, file);
  }
  return reader.status();
}

Result<Quantization> read_gptq(ConfigReader reader, const TensorFile& file) {
  TOK_TRY(check_format(reader, file));
  const Json* overrides = reader.find("dynamic");
  TOK_TRY(reader.status());
  Quantization out{.where = reader.where(), .all = {}, .modules = {}};
  TOK_TRY(out.all, read_numbers(reader, Method::kGptq));
  // Patterns over the names of modules: the tensors show what they come to.
  if (overrides != nullptr && overrides->is_object() && !overrides->as_object().empty()) {
    out.all = {};
  }
  return out;
}

Result<Quantization> read_affine(ConfigReader reader, const Json& json, const TensorFile& file) {
  const std::string mode = reader.word("mode", "affine");
  TOK_TRY(reader.status());
  if (mode != "affine") return unreadable(reader, "mode", mode, file);
  Quantization out{.where = reader.where(), .all = {}, .modules = {}};
  TOK_TRY(out.all, read_numbers(reader, Method::kAffine));
  for (const auto& [module, value] : json.as_object()) {
    if (!value.is_object()) continue;  // false: a module that is not packed
    ConfigReader own = reader.at(module);
    const std::string own_mode = own.word("mode", "affine");
    TOK_TRY(own.status());
    if (own_mode != "affine") return unreadable(own, "mode", own_mode, file);
    TOK_TRY(out.modules[module], read_numbers(own, Method::kAffine));
  }
  return out;
}

Result<Quantization> read(const ConfigReader& config, std::string_view field,
                          const TensorFile& file, const Json* beside) {
  ConfigReader reader = config.at(field);
  const std::string method = reader.word("quant_method", "");
  TOK_TRY(reader.status());
  if (method.empty()) return read_affine(reader, *config.find(field), file);
  if (method != "gptq") return unreadable(reader, "quant_method", method, file);
  if (beside != nullptr) {
    ConfigReader own(*beside, std::string(kBeside));
    TOK_TRY(check_format(own, file));
  }
  return read_gptq(reader, file);
}

/// The file that GPTQ's tools wrote before config.json had a place for it. It may remain where
/// nothing is packed so.
Result<Quantization> read_beside(const Json& json, const TensorFile& file) {
  const bool gptq = std::ranges::any_of(
      file.tensors(), [](const TensorInfo& tensor) { return tensor.name.ends_with(".qweight"); });
  if (!gptq) return Quantization{};
  ConfigReader reader(json, std::string(kBeside));
  const std::string method = reader.word("quant_method", "gptq");
  TOK_TRY(reader.status());
  if (method != "gptq") return unreadable(reader, "quant_method", method, file);
  return read_gptq(reader, file);
}

}  // namespace

const Quantization::Numbers& Quantization::of(std::string_view module) const {
  const auto found = modules.find(module);
  return found == modules.end() ? all : found->second;
}

Result<Quantization> read_quantization(const ConfigReader& config, const TensorFile& file,
                                       const Json* beside) {
  for (const ConfigReader& part : {config, config.at("text_config")}) {
    for (const char* field : {"quantization", "quantization_config"}) {
      if (part.has(field)) return read(part, field, file, beside);
    }
  }
  return beside != nullptr ? read_beside(*beside, file) : Quantization{};
}

}  // namespace tokamak
