// The first run of every phase of a program: drivers compile kernels when they first run, which
// must not be in the middle of somebody's text.
#pragma once
#include <functional>
#include <string_view>

#include "backend/backend.h"

namespace tokamak {

/// Called before each phase: how many have run, how many there are. False ends it with an error
/// (kCancelled).
using WarmUpProgress = std::function<bool(size_t done, size_t total)>;

/// Runs a step of one row in each phase that runs on tokens, and waits for each. What it writes
/// into the caches is of no sequence: the next one overwrites it. REQUIRES: no sequence is on its
/// way.
Result<void> run_every_phase(Program& program, const WarmUpProgress& progress);

}  // namespace tokamak
