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

std::string usual_cache_folder() {
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/tokamak";
}

std::string usual_data_folder() {
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.local/share/tokamak";
}

}  // namespace tokamak
