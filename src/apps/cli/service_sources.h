// The sources that a service of OpenAI's protocol takes from the machine: a clock, random numbers.
#pragma once
#include <cstdint>
#include <functional>

namespace tokamak::cli {

/// Never the same ones in another run. Copies go on with one state: none of them repeats another.
std::function<uint64_t()> random_numbers();

int64_t unix_seconds();

}  // namespace tokamak::cli
