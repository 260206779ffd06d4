#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass rounded_results();

}  // namespace tokamak::fuse
