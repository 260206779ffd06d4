#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass expert_mix();
}
