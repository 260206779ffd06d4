#pragma once
#include <span>

namespace tokamak {

/// log(sum(exp(x))) of all finite x; minus infinity where there is none.
double log_sum_exp(std::span<const float> x);

}  // namespace tokamak
