#include "model/quantization.h"

#include <algorithm>
#include <optional>
#include <span>

namespace tokamak {
namespace {

constexpr std::string_view kBeside = "quantize_config.json";

constexpr std::string_view kReads = "docs/models.md lists what this engine reads";

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

enum class Method : uint8_t { kAffine, kGptq, kAwq };

Result<uint32_t> read_bits(ConfigReader& reader, Method method) {
  const uint32_t bits = reader.size("bits");
  TOK_TRY(reader.status());
  constexpr uint32_t kAffine[] = {2, 3, 4, 5, 6, 8}, kGptq[] = {2, 3, 4, 8}, kAwq[] = {4};
  std::span<const uint32_t> read = kAffine;
  if (method == Method::kGptq) read = kGptq;
  if (method == Method::kAwq) read = kAwq;
  if (std::ranges::find(read, bits) != read.end()) return bits;
  const std::string expected = fmt::format("{}", fmt::join(read, ", "));
  if (bits >= 2 && bits <= 8) {
    return unsupported("{} is {}; this engine reads {}.", reader.path("bits"), bits, expected);
  }
  return invalid_input("{} is {}, expected {}.", reader.path("bits"), bits, expected);
}

Result<uint32_t> read_group(ConfigReader& reader, Method method) {
  const Json* value = reader.find("group_size");
  const bool whole_row = method != Method::kAffine && value != nullptr && *value == Json(-1);
  if (whole_row) return 0;
  const uint32_t group =
      value == nullptr ? reader.size("group_size") : reader.count("group_size", 0);
  TOK_TRY(reader.status());
  if (group == 32 || group == 64 || group == 128) return group;
  if (method != Method::kAffine && group != 0 && group % 128 == 0) return group;
  return invalid_input("{} is {}, expected 32, 64 or 128.", reader.path("group_size"), group);
}

Result<Quantization::Numbers> read_numbers(ConfigReader reader, Method method) {
  Quantization::Numbers numbers;
  TOK_TRY(numbers.bits, read_bits(reader, method));
  TOK_TRY(numbers.group, read_group(reader, method));
  return numbers;
}

/// Newer writers say "format". The second format stores zeros that are not one too small.
Result<bool> read_has_whole_zeros(ConfigReader& reader, const TensorFile& file) {
  for (const char* field : {"checkpoint_format", "format"}) {
    const std::string format = reader.word(field, "");
    TOK_TRY(reader.status());
    if (format == "gptq_v2") return true;
    if (!format.empty() && format != "gptq") return unreadable(reader, field, format, file);
  }
  return false;
}

Result<Quantization> read_gptq(ConfigReader reader, const TensorFile& file) {
  Quantization out;
  out.where = reader.where();
  TOK_TRY(out.has_whole_zeros, read_has_whole_zeros(reader, file));
  const Json* overrides = reader.find("dynamic");
  TOK_TRY(reader.status());
  TOK_TRY(out.all, read_numbers(reader, Method::kGptq));
  // Patterns over the names of modules: the tensors show what they come to.
  const bool has_overrides =
      overrides != nullptr && overrides->is_object() && !overrides->as_object().empty();
  if (has_overrides) out.all = {};
  const auto names_order = [](const auto& one) { return one.second.find("desc_act") != nullptr; };
  const bool is_ordered = reader.flag("desc_act", false);
  TOK_TRY(reader.status());
  if (is_ordered && !(has_overrides && std::ranges::any_of(overrides->as_object(), names_order))) {
    out.promises.push_back({reader.path("desc_act") + " is true", ".g_idx"});
  }
  return out;
}

/// Reads the packing "gemm" alone: those of "gemv" have other tensors.
Result<Quantization> read_awq(ConfigReader reader, const TensorFile& file) {
  const std::string version = reader.word("version", "gemm");
  TOK_TRY(reader.status());
  if (version != "gemm" && version != "GEMM") return unreadable(reader, "version", version, file);
  Quantization out;
  out.where = reader.where();
  TOK_TRY(out.all, read_numbers(reader, Method::kAwq));
  return out;
}

/// MLX's modes beside the affine one say all the tensors need.
bool is_micro_mode(std::string_view mode) {
  return mode == "mxfp4" || mode == "nvfp4" || mode == "mxfp8";
}

Result<Quantization::Numbers> read_module(ConfigReader& reader, const TensorFile& file) {
  const std::string mode = reader.word("mode", "affine");
  TOK_TRY(reader.status());
  if (is_micro_mode(mode)) return Quantization::Numbers{};
  if (mode != "affine") return unreadable(reader, "mode", mode, file);
  return read_numbers(reader, Method::kAffine);
}

Result<Quantization> read_affine(ConfigReader reader, const Json& json, const TensorFile& file) {
  Quantization out;
  out.where = reader.where();
  TOK_TRY(out.all, read_module(reader, file));
  for (const auto& [module, value] : json.as_object()) {
    if (!value.is_object()) continue;  // false: a module that is not packed
    ConfigReader own = reader.at(module);
    TOK_TRY(out.modules[module], read_module(own, file));
  }
  return out;
}

/// Blocks of scales are of 128 x 128: the tensors alone could not tell them from others.
Result<void> check_blocks(const ConfigReader& reader, std::string_view field) {
  const Json* blocks = reader.find(field);
  if (blocks == nullptr || blocks->is_null()) return {};
  if (*blocks == Json(Json::Array{Json(128), Json(128)})) return {};
  return unsupported("{} is {}; this engine reads [128, 128].", reader.path(field), blocks->dump());
}

/// Reads methods whose tensors decide everything: `words` of `field` are accepted.
Result<Quantization> read_by_tensors(ConfigReader reader, std::string_view field,
                                     std::initializer_list<std::string_view> words,
                                     const TensorFile& file) {
  const std::string word = reader.word(field, "");
  TOK_TRY(reader.status());
  if (!word.empty() && std::ranges::find(words, word) == words.end()) {
    return unreadable(reader, field, word, file);
  }
  Quantization out;
  out.where = reader.where();
  return out;
}

/// Adds what one group promises, or not, in which case `by` is "". Of the orders that writers name
/// only that by group needs a tensor.
Result<void> read_promises(ConfigReader weights, std::vector<Quantization::Promise>& out) {
  const bool is_symmetric = weights.flag("symmetric", true);
  const uint32_t bits = weights.count("num_bits", 0);
  TOK_TRY(weights.status());
  out.push_back(
      {is_symmetric ? "" : weights.path("symmetric") + " is false", ".weight_zero_point", bits});
  out.push_back({"", ".weight_g_idx", bits});
  const Json* order = weights.find("actorder");
  for (const Json& by_group : {Json("group"), Json("dynamic"), Json(true)}) {
    if (order == nullptr || *order != by_group) continue;
    out.back().by = fmt::format("{} is {}", weights.path("actorder"), order->dump());
  }
  return {};
}

/// Rotations of weights are in the weights; those of activations would have to run beside them.
Result<void> check_transforms(const ConfigReader& reader) {
  const ConfigReader schemes = reader.at("transform_config").at("config_groups");
  const Json* transforms = reader.find("transform_config");
  const Json* all = transforms == nullptr ? nullptr : transforms->find("config_groups");
  if (all == nullptr || !all->is_object()) return {};
  for (const auto& [scheme, value] : all->as_object()) {
    const Json* places = value.find("apply");
    if (places == nullptr || !places->is_array()) continue;
    for (const Json& place : places->as_array()) {
      const Json* location = place.find("location");
      if (location == nullptr || !location->is_string()) continue;
      const std::string& where = location->as_string();
      if (where == "weight_input" || where == "weight_output") continue;
      return unsupported("{} has \"{}\"; this engine rotates no activations.",
                         schemes.at(scheme).path("apply"), where);
    }
  }
  return {};
}

Result<Quantization> read_compressed_tensors(const ConfigReader& reader, const TensorFile& file) {
  TOK_TRY(check_transforms(reader));
  std::vector<Quantization::Promise> promises;
  const ConfigReader groups = reader.at("config_groups");
  if (const Json* all = reader.find("config_groups"); all != nullptr && all->is_object()) {
    for (const auto& [group, value] : all->as_object()) {
      const ConfigReader weights = groups.at(group).at("weights");
      TOK_TRY(check_blocks(weights, "block_structure"));
      TOK_TRY(read_promises(weights, promises));
    }
  }
  TOK_TRY(Quantization out,
          read_by_tensors(reader, "format",
                          {"float-quantized", "int-quantized", "naive-quantized", "pack-quantized",
                           "mxfp4-pack-quantized", "nvfp4-pack-quantized", "mixed-precision"},
                          file));
  // Patterns over names decide of which group a matrix is: all groups of its bits must agree.
  std::ranges::copy_if(promises, std::back_inserter(out.promises), [&](const auto& promise) {
    return std::ranges::none_of(promises, [&](const auto& other) {
      return other.by.empty() && other.suffix == promise.suffix && other.bits == promise.bits;
    });
  });
  return out;
}

Result<Quantization> read(const ConfigReader& config, std::string_view field,
                          const TensorFile& file, const Json* beside) {
  ConfigReader reader = config.at(field);
  const std::string method = reader.word("quant_method", "");
  TOK_TRY(reader.status());
  if (method.empty()) return read_affine(reader, *config.find(field), file);
  if (method == "awq") return read_awq(reader, file);
  if (method == "compressed-tensors") return read_compressed_tensors(reader, file);
  if (method == "bitsandbytes") {
    return read_by_tensors(reader, "bnb_4bit_quant_type", {"nf4", "fp4"}, file);
  }
  if (method == "modelopt") return read_by_tensors(reader, "quant_algo", {"NVFP4", "FP8"}, file);
  if (method == "mxfp4") return read_by_tensors(reader, "quant_method", {"mxfp4"}, file);
  if (method == "fp8") {
    TOK_TRY(check_blocks(reader, "weight_block_size"));
    return read_by_tensors(reader, "fmt", {"e4m3"}, file);
  }
  if (method != "gptq") return unreadable(reader, "quant_method", method, file);
  TOK_TRY(Quantization out, read_gptq(reader, file));
  if (beside != nullptr) {
    ConfigReader own(*beside, std::string(kBeside));
    TOK_TRY(const bool has_whole_zeros, read_has_whole_zeros(own, file));
    out.has_whole_zeros = out.has_whole_zeros || has_whole_zeros;
  }
  return out;
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
