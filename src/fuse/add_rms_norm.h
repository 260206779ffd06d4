#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass add_rms_norm();
}
