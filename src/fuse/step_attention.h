#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass step_attention();
}
