#include "fuse/library/library_passes.h"

namespace tokamak::fuse {

std::vector<Pass> library_passes() {
  // rounded_norm and rounded_results round what library_products would.
  return {reduce_norm(), library_products(), rounded_norm(), rounded_results()};
}

}  // namespace tokamak::fuse
