#include "engine/files/nemo_files.h"

#include <filesystem>

#include "base/system/path_text.h"
#include "formats/native_files.h"
#include "formats/nemo.h"
#include "model/nemo_config.h"

namespace tokamak {

std::string find_nemo(const std::string& path) {
  constexpr std::string_view kEnding = ".nemo";
  if (!is_directory(path)) return file_exists(path) && path.ends_with(kEnding) ? path : "";
  if (file_exists(path + "/config.json")) return "";
  std::string found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(path), ignored)) {
    if (text_of(entry.path().extension()) != kEnding) continue;
    if (!found.empty()) return "";
    found = text_of(entry.path());
  }
  return found;
}

Result<ModelFiles> nemo_model_files(const std::string& path) {
  TOK_TRY(auto source, open_file(path));
  TOK_TRY(NemoFile nemo, read_nemo(std::move(source)));
  ModelFiles files;
  files.name = path;
  files.tensors = std::move(nemo.tensors);
  auto config = config_of_nemo(std::move(nemo.config));
  if (!config) return Failure(config.error().within(path));
  files.description.config = *std::move(config);
  files.description.origin = "model_config.yaml as ";
  return files;
}

}  // namespace tokamak
