#include "engine/lora_files.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/system/path_text.h"
#include "formats/native_files.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxConfigBytes = uint64_t{16} << 20;
constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kWeights = "adapter_model.safetensors";

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// The folder's own name.
std::string name_of(const std::string& folder) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path_of(folder), ignored);
  return text_of((whole.has_filename() ? whole : whole.parent_path()).filename());
}

Result<LoraFiles> read_adapter(const AdapterOption& option) {
  const std::string& folder = option.folder;
  if (folder.ends_with(".gguf")) {
    return unsupported(
        "{} is an adapter for llama.cpp; this engine reads those of PEFT, a folder with {} and {}.",
        folder, kConfig, kWeights);
  }
  if (!is_directory(folder)) {
    return invalid_input("{}: {}; expected the folder of an adapter as PEFT saves it.", folder,
                         file_exists(folder) ? "this is a file" : "there is no such folder");
  }
  const auto has = [&](const char* name) { return file_exists(folder + "/" + name); };
  if (!has(kWeights) && has("adapter_model.bin")) {
    return unsupported("{} has adapter_model.bin, a pickle, which may run programs; expected {}.",
                       folder, kWeights);
  }
  for (const char* name : {kConfig, kWeights}) {
    if (has(name)) continue;
    return invalid_input("{} has no {}; expected the folder of an adapter as PEFT saves it.",
                         folder, name);
  }
  LoraFiles files{.name = option.name.empty() ? name_of(folder) : option.name,
                  .where = folder,
                  .scale = option.scale,
                  .config = {},
                  .tensors = {}};
  TOK_TRY(const std::string text, read_text_file(folder + "/" + kConfig, kMaxConfigBytes));
  auto config = Json::parse(text);
  if (!config) return Failure(config.error().within(folder + "/" + kConfig));
  files.config = *std::move(config);
  TOK_TRY(files.tensors, open_safetensors_file(folder + "/" + kWeights));
  return files;
}

}  // namespace

Result<AdapterOption> adapter_named(std::string_view text) {
  AdapterOption option;
  std::string_view rest = text;
  const size_t last = rest.rfind('=');
  if (last != rest.npos) {
    if (const auto scale = number(rest.substr(last + 1))) {
      option.scale = *scale;
      rest = rest.substr(0, last);
    }
  }
  if (const size_t first = rest.find('='); first != rest.npos) {
    option.name = rest.substr(0, first);
    rest = rest.substr(first + 1);
    if (option.name.empty()) rest = {};
  }
  option.folder = rest;
  if (option.name.empty()) option.name = name_of(option.folder);
  if (!option.folder.empty() && std::isfinite(option.scale)) return option;
  return fail(ErrorCode::kUsage, "An adapter is \"{}\", expected [NAME=]FOLDER[=SCALE].", text);
}

Result<std::vector<LoraFiles>> read_adapters(const std::vector<AdapterOption>& adapters) {
  std::vector<LoraFiles> all;
  std::set<std::string> names;
  for (const AdapterOption& option : adapters) {
    TOK_TRY(LoraFiles files, read_adapter(option));
    if (!names.insert(files.name).second) {
      return fail(ErrorCode::kUsage,
                  "Two adapters are called \"{}\"; NAME=FOLDER gives one another name.",
                  files.name);
    }
    all.push_back(std::move(files));
  }
  return all;
}

}  // namespace tokamak
