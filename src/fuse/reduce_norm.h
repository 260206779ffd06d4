// See the .cpp.
#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass reduce_norm();

}  // namespace tokamak::fuse
