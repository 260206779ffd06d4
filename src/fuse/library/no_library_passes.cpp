#include "fuse/library/library_passes.h"

namespace tokamak::fuse {

std::vector<Pass> library_passes() {
  return {};
}

}  // namespace tokamak::fuse
