// Opens the Dawn of Windows, a DLL that exports the functions of webgpu.h, and points the jumps of
// dawn_jumps.S at them.
#include <webgpu/webgpu.h>

#include <iterator>

#include "backend/webgpu/dawn/library.h"
#include "base/system/dynamic_library.h"
#include "base/system/folders.h"

// One slot per name of kFunctions, in its order; defined in dawn_jumps.S.
extern "C" WGPUProc tokamak_dawn_table[];

namespace tokamak {
namespace {

constexpr const char* kFunctions[] = {
#include "dawn_functions.inc"
};

}  // namespace

/// Beside the program, or beside the library that this code is in.
std::vector<std::string> dawn_places() {
  std::vector<std::string> paths;
  for (const std::string& folder : {executable_folder(), library_folder()}) {
    if (!folder.empty()) paths.push_back(folder + "/webgpu_dawn.dll");
  }
  return paths;
}

Failure no_dawn(const std::vector<std::string>& places) {
  return fail(ErrorCode::kDevice,
              "Dawn, the WebGPU library, is not there: put a webgpu_dawn.dll beside the program. "
              "There is no {}.",
              fmt::join(places, ", "));
}

Result<void> open_dawn(const std::string& path) {
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

}  // namespace tokamak
