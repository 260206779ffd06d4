#include "serve/residency.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tokamak::serve {
namespace {

/// Whether one more fits beside those that stay.
bool fits(std::span<const ResidencyFacts> models, const std::vector<size_t>& leaving, size_t model,
          const ResidencyLimits& limits) {
  uint32_t count = 1;
  // The estimate of a model alone may be too high: the engine knows better.
  uint64_t bytes = std::min(models[model].bytes, limits.bytes);
  for (size_t i = 0; i < models.size(); ++i) {
    if (!models[i].is_loaded || std::ranges::find(leaving, i) != leaving.end()) continue;
    ++count;
    bytes += models[i].bytes;
  }
  return (limits.models == 0 || count <= limits.models) &&
         (limits.bytes == 0 || bytes <= limits.bytes);
}

bool may_expire(const ResidencyFacts& model) {
  return model.is_loaded && !model.is_pinned && !model.is_busy;
}

}  // namespace

std::optional<std::vector<size_t>> models_to_evict(std::span<const ResidencyFacts> models,
                                                   size_t model, const ResidencyLimits& limits,
                                                   bool must_evict) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].is_loaded && !models[i].is_pinned) candidates.push_back(i);
  }
  std::ranges::stable_sort(candidates, std::less(), [&](size_t i) {
    return std::tuple(models[i].is_busy, models[i].last_use);
  });
  std::vector<size_t> leaving;
  const size_t least = must_evict ? 1 : 0;
  for (const size_t candidate : candidates) {
    if (leaving.size() >= least && fits(models, leaving, model, limits)) break;
    leaving.push_back(candidate);
  }
  if (leaving.size() < least || !fits(models, leaving, model, limits)) return std::nullopt;
  // A large one that was taken last may make room enough without small ones that were taken before.
  for (size_t i = leaving.size(); i > 0 && leaving.size() > least; --i) {
    std::vector<size_t> fewer = leaving;
    fewer.erase(fewer.begin() + ptrdiff_t(i - 1));
    if (fits(models, fewer, model, limits)) leaving = std::move(fewer);
  }
  return leaving;
}

std::vector<size_t> expired_models(std::span<const ResidencyFacts> models, double now) {
  std::vector<size_t> out;
  for (size_t i = 0; i < models.size(); ++i) {
    const ResidencyFacts& one = models[i];
    if (may_expire(one) && one.last_use + one.keep_seconds <= now) out.push_back(i);
  }
  return out;
}

double next_expiry(std::span<const ResidencyFacts> models) {
  double next = std::numeric_limits<double>::infinity();
  for (const ResidencyFacts& one : models) {
    if (may_expire(one)) next = std::min(next, one.last_use + one.keep_seconds);
  }
  return next;
}

}  // namespace tokamak::serve
