#include "base/log_sum_exp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tokamak {

double log_sum_exp(std::span<const float> x) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const float one : x) largest = std::isfinite(one) ? std::max(largest, one) : largest;
  double sum = 0;
  for (const float one : x)
    sum += std::isfinite(one) ? std::exp(double(one) - double(largest)) : 0.0;
  return double(largest) + std::log(sum);
}

}  // namespace tokamak
