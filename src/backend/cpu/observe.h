// Looks into the programs of processors while they run.
#pragma once
#include <functional>
#include <memory>

#include "backend/backend.h"
#include "kernels/kernel.h"
#include "plan/plan.h"

namespace tokamak {

/// Called before each launch, when what the step reads is there.
using LaunchObserver = std::function<void(const Plan&, const Step&, const CpuCall&)>;

/// Has the programs that `backend` compiles from then on call `observer`. REQUIRES: a backend of
/// the processor.
void observe_launches(Backend& backend, LaunchObserver observer);

}  // namespace tokamak
