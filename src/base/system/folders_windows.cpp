#include <windows.h>

#include "base/environment.h"
#include "base/system/folders.h"
#include "base/system/path_text.h"

namespace tokamak {
namespace {

/// The folder of a module; "" when it is not known.
std::string folder_of(HMODULE module) {
  std::wstring name(32'768, L'\0');  // no path is longer
  name.resize(::GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size())));
  return text_of(std::filesystem::path(name).parent_path());
}

/// "C:\\Users\\name\\AppData\\Local/tokamak/x"; "" when it is not known.
std::string local_folder(std::string_view name) {
  const std::string local = environment_variable("LOCALAPPDATA");
  return local.empty() ? "" : local + "/tokamak/" + std::string(name);
}

}  // namespace

std::string executable_folder() {
  return folder_of(nullptr);
}

std::string library_folder() {
  static const int here = 0;
  HMODULE own = nullptr;
  constexpr DWORD kByAddress =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!::GetModuleHandleExW(kByAddress, reinterpret_cast<LPCWSTR>(&here), &own)) return "";
  return own == ::GetModuleHandleW(nullptr) ? "" : folder_of(own);
}

std::string cache_folder(std::string_view purpose) {
  std::string folder = environment_variable("TOKAMAK_CACHE_DIR");
  if (const std::string xdg = environment_variable("XDG_CACHE_HOME");
      folder.empty() && !xdg.empty()) {
    folder = xdg + "/tokamak";
  }
  if (folder.empty()) folder = local_folder("cache");
  return folder.empty() ? "" : folder.append("/").append(purpose);
}

std::string data_folder() {
  const std::string xdg = environment_variable("XDG_DATA_HOME");
  return xdg.empty() ? local_folder("data") : xdg + "/tokamak";
}

}  // namespace tokamak
