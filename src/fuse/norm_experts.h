#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass norm_experts();
}
