#include <windows.h>

#include "base/system/dynamic_library.h"
#include "base/system/path_text.h"
#include "base/system/text_windows.h"

namespace tokamak {

/// Here every function of another library is found at once.
Result<DynamicLibrary> DynamicLibrary::open(const std::string& name, Linking) {
  std::filesystem::path path = path_of(name);
  path.make_preferred();
  // Never the working directory; what the library needs itself may lie beside it.
  const DWORD beside = path.is_absolute() ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR : 0;
  HMODULE handle =
      ::LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | beside);
  if (handle != nullptr) return DynamicLibrary(handle);
  return unsupported("{}: {}", name, last_reason().error().message);
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !is_kept_) ::FreeLibrary(static_cast<HMODULE>(handle_));
}

void* DynamicLibrary::find(const char* symbol) const {
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), symbol));
}

}  // namespace tokamak
