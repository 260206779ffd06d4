#pragma once
#include <vector>

#include "fuse/pass.h"

namespace tokamak::fuse {

/// Those around the products of a vendor's library, in their order; none in a browser, which has no
/// such library.
std::vector<Pass> library_passes();

Pass reduce_norm();
Pass library_products();
Pass rounded_gate();
Pass rounded_norm();
Pass rounded_results();

}  // namespace tokamak::fuse
