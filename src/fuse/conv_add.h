#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass conv_add();
}
