// The source of the functions of <webgpu/webgpu.h> at run time.
//
// A Dawn that was linked needs nothing (linked_dawn.cpp). Otherwise they are found in the Dawn
// build that ./dev setup fetched (loader.cpp). Nothing else in the program knows which of the two
// it is.
#pragma once
#include <string>

#include "base/result.h"

namespace tokamak {

/// Makes the functions of webgpu.h callable; call it before the first of them, from any thread.
/// The first success stays: later calls return at once. `path` names the library; an empty one
/// means the copy installed beside the program, then the one the build was configured with. kDevice
/// when there is none or it is not the Dawn this program was built for.
Result<void> load_dawn(const std::string& path = "");

}  // namespace tokamak
