// How sure a model is that a document answers a query, of which it would say yes or no.
#pragma once
#include <cmath>

namespace tokamak {

/// The probability of yes among the two, by their logits.
inline float yes_probability(float yes, float no) {
  return float(1 / (1 + std::exp(double(no) - double(yes))));
}

}  // namespace tokamak
