#include <dlfcn.h>

#include "base/system/dynamic_library.h"

namespace tokamak {

Result<DynamicLibrary> DynamicLibrary::open(const std::string& name, Linking linking) {
  const int when = linking == Linking::kAtOnce ? RTLD_NOW : RTLD_LAZY;
  if (void* handle = ::dlopen(name.c_str(), when | RTLD_LOCAL)) return DynamicLibrary(handle);
  const char* reason = ::dlerror();
  if (reason == nullptr) return unsupported("{} does not load", name);
  return unsupported("{}", reason);
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !is_kept_) ::dlclose(handle_);
}

void* DynamicLibrary::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace tokamak
