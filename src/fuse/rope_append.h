#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass rope_append();

}  // namespace tokamak::fuse
