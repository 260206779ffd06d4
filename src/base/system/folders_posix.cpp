#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "base/environment.h"
#include "base/system/folders.h"

namespace tokamak {

std::string executable_folder() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "" : path.parent_path().string();
}

std::string library_folder() {
  static const int here = 0;
  Dl_info found = {};
  void* map = nullptr;
  if (::dladdr1(&here, &found, &map, RTLD_DL_LINKMAP) == 0) return "";
  // The program itself has no name there.
  const std::string_view name = static_cast<const link_map*>(map)->l_name;
  if (name.empty()) return "";
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::canonical(name, failed);
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

std::string data_folder() {
  if (const std::string xdg = environment_variable("XDG_DATA_HOME"); !xdg.empty()) {
    return xdg + "/tokamak";
  }
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.local/share/tokamak";
}

}  // namespace tokamak
