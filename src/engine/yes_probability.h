// How sure a model is that a document answers a query, of which it would say yes or no.
#pragma once
#include <cmath>

namespace tokamak {

/// The share of yes among the two, by their logits.
inline float yes_share(float yes, float no) {
  return float(1 / (1 + std::exp(double(no) - double(yes))));
}

}  // namespace tokamak
