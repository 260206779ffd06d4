#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass library_products();

}  // namespace tokamak::fuse
