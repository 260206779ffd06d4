#include "memory/store_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tokamak::memory {

Result<void> check_store_file(const std::string& path) {
  if (std::filesystem::exists(path)) return {};
  return invalid_input("There is no store {}; `tokamak memory add -m MODEL FILE` makes one.", path);
}

Result<void> make_store_file(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  // The files beside it, which SQLite makes, get the same permissions.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return invalid_input("{} cannot be made: {}.", path, std::strerror(errno));
  ::close(file);
  return {};
}

}  // namespace tokamak::memory
