#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass delta_row();
}
