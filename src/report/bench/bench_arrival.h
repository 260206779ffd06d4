// The part of `tokamak bench --arriving` that sends a long prompt to a scheduler which is busy:
// what those that generate feel of it, and how long it takes to be rid of it.
#pragma once
#include <span>

#include "report/bench/bench.h"

namespace tokamak {

/// All but one of `test.sequences` generate after `test.depth` tokens when a prompt of
/// `test.arriving` arrives; where it has been read, another one does, which is given up in the
/// middle.
Result<Arrival> time_arrival(Engine& engine, std::span<const uint32_t> ids,
                             const BenchOptions& options, const Clock& clock,
                             const BenchTest& test);

}  // namespace tokamak
