// The limits of a device, as far as kernels that do nothing else reach them.
#pragma once
#include "backend/backend.h"
#include "engine/engine.h"

namespace tokamak {

struct Roofline {
  double bandwidth = 0;       // bytes per second; see measure_bandwidth() in bench.h
  double flops = 0;           // per second, of a large product of matrices
  double launch_seconds = 0;  // of a launch that computes next to nothing
};

Result<Roofline> measure_roofline(Backend& backend, const Clock& clock);

}  // namespace tokamak
