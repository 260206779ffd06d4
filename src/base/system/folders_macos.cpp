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

std::string usual_cache_folder() {
  return library_of_user("Caches");
}

std::string usual_data_folder() {
  return library_of_user("Application Support");
}

}  // namespace tokamak
