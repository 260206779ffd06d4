#include "kernels/cpu/vector_sets.h"

#include <hwy/targets.h>

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {
namespace {

struct VectorSet {
  std::string_view name;
  int64_t target;
};

/// Those of Highway's targets that CMakeLists.txt has vectors compiled for. Better ones are lower.
constexpr VectorSet kSets[] = {
    {"avx512", HWY_AVX3_DL}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"neon", HWY_NEON}};

/// The targets that the processor has, all of them.
int64_t own_targets() {
  static const int64_t targets = hwy::SupportedTargets() | HWY_STATIC_TARGET;
  return targets;
}

std::vector<VectorSet> own_sets() {
  std::vector<VectorSet> found;
  for (const VectorSet& set : kSets) {
    if ((own_targets() & set.target) != 0) found.push_back(set);
  }
  return found;
}

std::atomic<bool> is_limited = false;

}  // namespace

std::vector<std::string_view> vector_sets() {
  std::vector<std::string_view> names;
  for (const VectorSet& set : own_sets()) names.push_back(set.name);
  return names;
}

void limit_vectors(std::string_view set) {
  const std::vector<VectorSet> sets = own_sets();
  const auto found = std::ranges::find(sets, set, &VectorSet::name);
  TOK_CHECK(found != sets.end());
  // DisableTargets() of Highway 1.0.3 leaves functions that have been chosen as they are.
  hwy::SetSupportedTargetsForTest(own_targets() & ~(found->target - 1));
  is_limited = found != sets.begin();
}

bool vectors_are_limited() {
  return is_limited;
}

}  // namespace tokamak
