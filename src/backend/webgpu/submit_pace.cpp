#include "backend/webgpu/submit_pace.h"

#include <algorithm>

namespace tokamak {
namespace {

// A notebook's GPU of ten years ago, at kernels that are not made for it.
constexpr double kSlowFlops = 2e11, kSlowBytes = 2e10;  // per second

}  // namespace

double SubmitPace::nominal(const Cost& cost) {
  return std::max(double(cost.flops) / kSlowFlops, double(cost.bytes) / kSlowBytes);
}

void SubmitPace::measured(double nominal, double seconds) {
  if (nominal > 0) scale_ = std::max(seconds / nominal, scale_ / 2);
}

size_t SubmitRoom::take(size_t count, std::span<const double> nominal) {
  size_t taken = 0;
  for (; taken < count && dispatches > 0; ++taken, --dispatches) {
    if (nominal.empty()) continue;
    if (!is_untouched && nominal[taken] > seconds) break;
    seconds -= nominal[taken];
    is_untouched = false;
  }
  return taken;
}

}  // namespace tokamak
