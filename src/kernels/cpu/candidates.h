// The largest of an array of logits, in vectors, for choosing tokens.
#pragma once
#include <cstddef>
#include <span>

namespace tokamak {

/// The place of the largest, of equals the first, as BlockArgmax has it: no NaN, and 0 where
/// nothing is above the lowest f32.
size_t place_of_largest(std::span<const float> x);

/// The largest of what counts as BlockMaxima has it, the sum of exp((x - largest) * by) of that,
/// and -1 for the sum where something is +infinity.
struct Peak {
  float largest, sum;
};
Peak peak_of(std::span<const float> x, float by);

}  // namespace tokamak
