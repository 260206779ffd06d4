// The tests of `tokamak bench` that run several sequences at once.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "report/bench.h"

namespace tokamak {

/// Generates `test.generate` tokens in each of `test.sequences` sequences of `test.depth` tokens,
/// whose prompts begin at different ids. Time counts from when all of them have begun, and only for
/// tokens from then on. `repeats` becomes false where a repetition gives other tokens than the
/// first.
Result<void> time_sequences(Engine& engine, std::span<const uint32_t> ids,
                            const BenchOptions& options, const Clock& clock, BenchTest& test,
                            bool& repeats);

}  // namespace tokamak
