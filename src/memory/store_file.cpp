#include "memory/store_file.h"

#include <filesystem>

#include "base/system/file.h"
#include "base/system/path_text.h"

namespace tokamak::memory {

Result<void> check_store_file(const std::string& path) {
  if (std::filesystem::exists(path_of(path))) return {};
  return invalid_input("There is no store {}; `tokamak memory add -m MODEL FILE` makes one.", path);
}

Result<void> make_store_file(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path folder = path_of(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  // The files beside it, which SQLite makes, get the same permissions.
  const auto file = File::open(path, FileMode::kCreate, {.is_private = true});
  if (!file) return invalid_input("{} cannot be made: {}.", path, file.error().message);
  return {};
}

}  // namespace tokamak::memory
