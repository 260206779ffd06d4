#include "backend/webgpu/dawn/standard_library.h"

#include <dlfcn.h>

namespace tokamak {
namespace {

constexpr const char* kName = "libstdc++.so.6";
/// The function of the newest version that Dawn asks for.
constexpr const char* kFunction = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE";
constexpr const char* kVersion = "GLIBCXX_3.4.30";

}  // namespace

void open_standard_library(const std::string& fallback) {
  if (fallback.empty()) return;
  if (void* const system = ::dlopen(kName, RTLD_LAZY | RTLD_LOCAL)) {
    if (::dlvsym(system, kFunction, kVersion) != nullptr) return;
    ::dlclose(system);
  }
  // It stays open, so that Dawn finds it by its name. Where it does not open, Dawn's own error
  // names what is missing.
  ::dlopen(fallback.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace tokamak
