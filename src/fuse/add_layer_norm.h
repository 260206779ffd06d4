#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass add_layer_norm();

}  // namespace tokamak::fuse
