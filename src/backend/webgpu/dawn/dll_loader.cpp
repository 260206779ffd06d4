// Opens the Dawn of Windows, a DLL that exports the functions of webgpu.h, and points the jumps of
// dawn_jumps.S at them.
#include <webgpu/webgpu.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "backend/webgpu/dawn/loader.h"
#include "base/system/dynamic_library.h"
#include "base/system/file.h"
#include "base/system/folders.h"

// One slot per name of kFunctions, in its order; defined in dawn_jumps.S.
extern "C" WGPUProc tokamak_dawn_table[];

namespace tokamak {
namespace {

constexpr const char* kFunctions[] = {
#include "dawn_functions.inc"
};

/// Beside the program, or beside the library that this code is in.
std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  for (const std::string& folder : {executable_folder(), library_folder()}) {
    if (!folder.empty()) paths.push_back(folder + "/webgpu_dawn.dll");
  }
  return paths;
}

Result<void> load(const std::string& path) {
  auto library = DynamicLibrary::open(path);
  if (!library) {
    return fail(ErrorCode::kDevice, "Dawn cannot be opened: {}.", library.error().message);
  }
  // A DLL has no record of its revision, and other revisions have other structures. One that lacks
  // a function of the header, called or not, is of another.
  LibraryFunctions find(*library);
  for (size_t i = 0; i < std::size(kFunctions); ++i) find(tokamak_dawn_table[i], kFunctions[i]);
  if (find.missing() != nullptr) {
    return fail(ErrorCode::kDevice,
                "\"{}\" lacks the function {} of webgpu.h: expected Dawn of revision {}.", path,
                find.missing(), TOKAMAK_DAWN_VERSION);
  }
  library->keep();
  return {};
}

}  // namespace

Result<void> load_dawn(const std::string& path) {
  static std::mutex mutex;
  static bool loaded = false;
  const std::scoped_lock lock(mutex);
  if (loaded) return {};
  const std::vector<std::string> paths = candidates();
  const auto found = std::ranges::find_if(paths, is_readable);
  const std::string chosen = path.empty() && found != paths.end() ? *found : path;
  if (chosen.empty()) {
    return fail(ErrorCode::kDevice,
                "Dawn, the WebGPU library, is not there: put a webgpu_dawn.dll beside the program. "
                "There is no {}.",
                fmt::join(paths, ", "));
  }
  TOK_TRY(load(chosen));
  loaded = true;
  return {};
}

}  // namespace tokamak
