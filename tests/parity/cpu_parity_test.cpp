// Every kernel for vectors of processors against the reference, by each instruction set that this
// processor has, on more threads than there may be cores.
#include <gtest/gtest.h>

#include <set>

#include "kernel_check.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/vector_sets.h"

namespace tokamak::parity {
namespace {

/// Those that this processor can run.
std::vector<const KernelVariant*> vector_kernels() {
  const auto backend = make_vector_backend(1);
  const Features features = backend == nullptr ? kFeatureVectors : backend->device().features;
  std::vector<const KernelVariant*> found = variants_for(BackendKind::kCpu);
  std::erase_if(found, [&](const KernelVariant* variant) {
    return (variant->needs & kFeatureVectors) == 0 || (variant->needs & ~features) != 0;
  });
  return found;
}

class CpuParity : public testing::TestWithParam<const KernelVariant*> {};

TEST_P(CpuParity, MatchesTheReference) {
  const auto backend = make_vector_backend(5);
  ASSERT_NE(backend, nullptr) << "this processor has none of the sets";
  std::set<std::string_view> seen;
  for (const std::string_view set : vector_sets()) {
    SCOPED_TRACE(set);
    limit_vectors(set);
    EXPECT_TRUE(seen.insert(vector_set()).second) << "another set runs than was asked for";
    check(*GetParam(), *backend);
  }
  limit_vectors(vector_sets().front());
}

INSTANTIATE_TEST_SUITE_P(Kernels, CpuParity, testing::ValuesIn(vector_kernels()), test_name);

}  // namespace
}  // namespace tokamak::parity
