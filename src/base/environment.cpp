#include "base/environment.h"

#include <cstdlib>
#include <filesystem>

namespace tokamak {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string executable_folder() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "" : path.parent_path().string();
}

std::string cache_folder(std::string_view purpose) {
  std::string folder;
  if (const std::string own = environment_variable("TOKAMAK_CACHE_DIR"); !own.empty()) {
    folder = own;
  } else if (const std::string xdg = environment_variable("XDG_CACHE_HOME"); !xdg.empty()) {
    folder = xdg + "/tokamak";
  } else if (const std::string home = environment_variable("HOME"); !home.empty()) {
    folder = home + "/.cache/tokamak";
  }
  return folder.empty() ? "" : folder.append("/").append(purpose);
}

}  // namespace tokamak
