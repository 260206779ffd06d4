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

std::string usual_cache_folder() {
  return local_folder("cache");
}

std::string usual_data_folder() {
  return local_folder("data");
}

}  // namespace tokamak
