#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass rounded_norm();

}  // namespace tokamak::fuse
