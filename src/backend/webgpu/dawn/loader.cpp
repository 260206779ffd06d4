// Opens a Dawn build at run time and points the jumps of dawn_jumps.S at its functions.
//
// An ordinary shared Dawn exports wgpuGetProcAddress. The build from npm is an addon for Node: it
// exports nothing of the sort, but it carries its symbol table, where the same function is found by
// its C++ name. What it expects of Node is never called; node_stubs.so has it.
#include <dlfcn.h>
#include <link.h>
#include <webgpu/webgpu.h>

#include <iterator>
#include <vector>

#include "backend/webgpu/dawn/elf_file.h"
#include "backend/webgpu/dawn/library.h"
#include "backend/webgpu/dawn/quiet.h"
#include "backend/webgpu/dawn/standard_library.h"
#include "base/system/dynamic_library.h"
#include "base/system/folders.h"

// One slot per name of kFunctions, in its order; defined in dawn_jumps.S.
extern "C" __attribute__((visibility("hidden"))) WGPUProc tokamak_dawn_table[];

namespace tokamak {
namespace {

constexpr std::string_view kFunctions[] = {
#include "dawn_functions.inc"
};
constexpr std::string_view kGetProcAddress =
    "_ZN4dawn6native20NativeGetProcAddressE14WGPUStringView";
constexpr std::string_view kDawnVersion = "_ZN4dawnL12kDawnVersionE";  // 20 raw bytes

/// The places of `name`: installed beside the program or the shared library, or as it was built; a
/// portable build has only the former.
std::vector<std::string> candidates(const std::string& name, const std::string& built) {
  const std::string installed = "/" TOKAMAK_DAWN_FOLDER "/" + name;
  std::vector<std::string> paths = {executable_folder() + "/.." + installed};
  if (const std::string own = library_folder(); !own.empty()) {
    paths.push_back(own + "/tokamak/" + name);
  }
  const std::string_view prefix = TOKAMAK_INSTALL_PREFIX;
  if (!prefix.empty()) paths.push_back(std::string(prefix) + installed);
  if (!built.empty()) paths.push_back(built);
  return paths;
}

/// The library in memory; null when the system does not give it.
const link_map* map_of(const DynamicLibrary& library) {
  link_map* found = nullptr;
  void* const out = static_cast<void*>(&found);
  return ::dlinfo(library.handle(), RTLD_DI_LINKMAP, out) == 0 ? found : nullptr;
}

/// The address in memory of a symbol that ElfFile found.
void* address_of(const DynamicLibrary& library, ElfSymbol symbol) {
  const link_map* map = map_of(library);
  return map == nullptr ? nullptr : reinterpret_cast<void*>(map->l_addr + symbol.address);
}

std::string hexadecimal(const void* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  return text;
}

/// Dawn's own record of the revision it was built from, where the library has one.
Result<void> check_version(const DynamicLibrary& library, const ElfFile& file,
                           const std::string& path) {
  const std::optional<ElfSymbol> symbol = file.find(kDawnVersion);
  if (!symbol || symbol->bytes != 20) {
    return fail(ErrorCode::kDevice, "\"{}\" does not say which revision of Dawn it is.", path);
  }
  const std::string found = hexadecimal(address_of(library, *symbol), symbol->bytes);
  if (found != TOKAMAK_DAWN_VERSION) {
    return fail(ErrorCode::kDevice, "\"{}\" is Dawn {}, expected {}. ./dev setup fetches that one.",
                path, found, TOKAMAK_DAWN_VERSION);
  }
  return {};
}

}  // namespace

std::vector<std::string> dawn_places() {
  return candidates("dawn.node", TOKAMAK_DAWN_FILE);
}

Failure no_dawn(const std::vector<std::string>& places) {
  return fail(ErrorCode::kDevice,
              "Dawn, the WebGPU library, is not installed: there is no {}. ./dev setup fetches it.",
              fmt::join(places, ", "));
}

Result<void> open_dawn(const std::string& path) {
  TOK_TRY(const ElfFile file, ElfFile::open(path));
  open_standard_library(first_readable(candidates("fallback/libstdc++.so.6", "")));
  // It stays open. Where there is none, an ordinary Dawn opens, and the addon says what it misses.
  const std::string stubs = first_readable(candidates("node_stubs.so", TOKAMAK_NODE_STUBS));
  if (!stubs.empty()) ::dlopen(stubs.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  auto library = DynamicLibrary::open(path, DynamicLibrary::Linking::kWhenCalled);
  if (!library) {
    return fail(ErrorCode::kDevice, "Dawn cannot be opened: {}.", library.error().message);
  }
  TOK_TRY(check_version(*library, file, path));
  void* entry = library->find("wgpuGetProcAddress");
  if (entry == nullptr) {
    if (const auto symbol = file.find(kGetProcAddress)) entry = address_of(*library, *symbol);
  }
  if (entry == nullptr) {
    return fail(ErrorCode::kDevice, "\"{}\" is not Dawn: it has no wgpuGetProcAddress.", path);
  }
  const auto get_proc_address = reinterpret_cast<WGPUProcGetProcAddress>(entry);
  for (size_t i = 0; i < std::size(kFunctions); ++i) {
    const WGPUProc function = get_proc_address({kFunctions[i].data(), kFunctions[i].size()});
    if (function == nullptr) {
      return fail(ErrorCode::kDevice, "\"{}\" lacks the function {} of webgpu.h.", path,
                  kFunctions[i]);
    }
    tokamak_dawn_table[i] = function;
  }
  if (const link_map* map = map_of(*library)) redirect_stderr(*map, stderr_without_remarks());
  library->keep();
  return {};
}

}  // namespace tokamak
