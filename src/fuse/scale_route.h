#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass scale_route();
}
