#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass snake_conv();
}
