#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <filesystem>

#include "base/environment.h"
#include "base/system/folders.h"

namespace tokamak {
namespace {

/// The path of the program, links in it followed; "" when it is not known.
std::filesystem::path program() {
  uint32_t bytes = 0;
  ::_NSGetExecutablePath(nullptr, &bytes);  // only the length
  std::string path(bytes, '\0');
  if (::_NSGetExecutablePath(path.data(), &bytes) != 0) return {};
  std::error_code failed;
  std::filesystem::path found = std::filesystem::canonical(path.c_str(), failed);
  return failed ? std::filesystem::path() : found;
}

/// "/Users/name/Library/Caches/tokamak"; "" when it is not known.
std::string library_of_user(std::string_view name) {
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/Library/" + std::string(name) + "/tokamak";
}

}  // namespace

std::string executable_folder() {
  return program().parent_path().string();
}

std::string library_folder() {
  static const int here = 0;
  Dl_info found = {};
  if (::dladdr(&here, &found) == 0 || found.dli_fname == nullptr) return "";
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::canonical(found.dli_fname, failed);
  return failed || path == program() ? "" : path.parent_path().string();
}

std::string cache_folder(std::string_view purpose) {
  std::string folder = environment_variable("TOKAMAK_CACHE_DIR");
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME");
      folder.empty() && !xdg.empty()) {
    folder = xdg + "/tokamak";
  }
  if (folder.empty()) folder = library_of_user("Caches");
  return folder.empty() ? "" : folder.append("/").append(purpose);
}

std::string data_folder() {
  const std::string xdg = environment_variable("XDG_DATA_HOME");
  return xdg.empty() ? library_of_user("Application Support") : xdg + "/tokamak";
}

}  // namespace tokamak
