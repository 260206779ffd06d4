#include "base/environment.h"

#include <cstdlib>
#include <filesystem>

namespace tokamak {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string executable_folder() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "" : path.parent_path().string();
}

std::string cache_folder(const std::string& purpose) {
  if (const std::string own = variable("TOKAMAK_CACHE_DIR"); !own.empty()) {
    return own + "/" + purpose;
  }
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) {
    return xdg + "/tokamak/" + purpose;
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    return home + "/.cache/tokamak/" + purpose;
  }
  return "";
}

}  // namespace tokamak
