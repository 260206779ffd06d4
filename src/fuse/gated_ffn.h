#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {
Pass gated_ffn();
}
