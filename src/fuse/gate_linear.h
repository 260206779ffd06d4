#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass gate_linear();
}
