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

std::string cache_folder(const std::string& purpose) {
  if (const std::string own = environment_variable("TOKAMAK_CACHE_DIR"); !own.empty()) {
    return own + "/" + purpose;
  }
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME"); !xdg.empty()) {
    return xdg + "/tokamak/" + purpose;
  }
  if (const std::string home = environment_variable("HOME"); !home.empty()) {
    return home + "/.cache/tokamak/" + purpose;
  }
  return "";
}

}  // namespace tokamak
