#include "fuse/library/library_passes.h"

namespace tokamak::fuse {

std::vector<Pass> library_passes() {
  // Those that round come after library_products, which would.
  return {reduce_norm(), library_products(), rounded_gate(), rounded_norm(), rounded_results()};
}

}  // namespace tokamak::fuse
