// The lines of --trace-kernels: which kernel runs each step of a plan, and why not a better one.
#pragma once
#include <string>

#include "plan/plan.h"

namespace tokamak {

/// A line per step; the reasons follow where a kernel with such reasons appears first.
std::string kernel_trace(const Plan& plan);

}  // namespace tokamak
