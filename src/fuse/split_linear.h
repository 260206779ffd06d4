#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass split_linear();
}
