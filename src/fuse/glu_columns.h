#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass glu_columns();

}  // namespace tokamak::fuse
