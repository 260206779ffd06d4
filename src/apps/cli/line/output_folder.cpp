#include "apps/cli/line/output_folder.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/cli/line/terminal.h"
#include "base/system/path_text.h"

namespace tokamak::cli {
namespace {

namespace fs = std::filesystem;

/// The name of the folder while its files are written.
std::string partial_of(const std::string& output) {
  fs::path path = path_of(output);
  if (!path.has_filename()) path = path.parent_path();
  return text_of(path) + ".partial";
}

/// Whether a file of a model's folder has weights, in whatever format.
bool has_weights(const fs::path& file) {
  const std::string ending = text_of(file.extension());
  constexpr std::string_view kEndings[] = {".safetensors", ".bin",  ".pt", ".pth",
                                           ".gguf",        ".onnx", ".h5", ".msgpack"};
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

}  // namespace

Result<void> check_output_folder(const std::string& path) {
  std::error_code failed;
  if (fs::exists(path_of(path), failed)) {
    return fail(ErrorCode::kUsage, "{} exists; -o must name a folder that does not.", path);
  }
  if (!fs::exists(path_of(partial_of(path)), failed)) return {};
  return fail(ErrorCode::kUsage, "{} is left of a command that did not end; remove it first.",
              partial_of(path));
}

WholeFolder::WholeFolder(std::string path) : path_(std::move(path)), partial_(partial_of(path_)) {}

Result<WholeFolder> WholeFolder::make(const std::string& path) {
  WholeFolder own(path);
  std::error_code failed;
  if (!fs::create_directory(path_of(own.partial_), failed)) {
    own.partial_.clear();
    return output_failure("{}: The folder cannot be made; is the one above it there?",
                          partial_of(path));
  }
  return own;
}

WholeFolder::WholeFolder(WholeFolder&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::exchange(other.partial_, {})) {}

WholeFolder::~WholeFolder() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(path_of(partial_), ignored);
}

std::string WholeFolder::place_of(const std::string& name) const {
  return text_of(path_of(partial_) / path_of(name));
}

Result<void> WholeFolder::write(const std::string& name,
                                const std::function<Result<void>(const Put&)>& make) {
  const std::string place = place_of(name);
  WholeFile file(place);
  TOK_TRY(make([&](std::span<const std::byte> bytes) { return put_piece(file, bytes, place); }));
  return file.commit() ? Result<void>() : unfinished_output(place);
}

Result<void> WholeFolder::copy_others(const std::string& model) const {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path_of(model), failed)) {
    const fs::path name = entry.path().filename();
    if (!entry.is_regular_file(failed) || has_weights(name)) continue;
    const std::string place = place_of(text_of(name));
    if (!fs::copy_file(entry.path(), path_of(place), failed) || failed)
      return unfinished_output(place);
  }
  if (failed) return invalid_input("{}: The folder cannot be read.", model);
  return {};
}

Result<void> WholeFolder::commit() {
  std::error_code failed;
  fs::rename(path_of(partial_), path_of(path_), failed);
  if (failed) return unfinished_output(path_);
  partial_.clear();
  return {};
}

}  // namespace tokamak::cli
