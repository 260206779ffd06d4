// The tests of `tokamak bench` that run several sequences at once.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "report/bench/bench.h"

namespace tokamak {

/// A prompt of that many of `ids`, at least one, that begins at another one for every number.
std::vector<uint32_t> bench_prompt(std::span<const uint32_t> ids, uint32_t tokens, uint32_t number);

/// Generates `test.generate` tokens in each of `test.sequences` sequences of `test.depth` tokens,
/// whose prompts begin at different ids. Time counts from when all of them have begun, and only for
/// tokens from then on. `check` becomes that of a session which finds one of the tokens less
/// probable than before; which of two that are nearly as probable comes first may depend on what
/// ran beside them.
Result<void> time_sequences(Engine& engine, std::span<const uint32_t> ids,
                            const BenchOptions& options, const Clock& clock, BenchTest& test,
                            BatchCheck& check);

}  // namespace tokamak
