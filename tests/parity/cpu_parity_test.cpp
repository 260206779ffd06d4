// Every kernel for vectors of processors against the reference, by each instruction set that this
// processor has, on more threads than there may be cores.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "kernel_check.h"
#include "kernels/cpu/thread_pool.h"

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

/// Makes Highway take no instruction set better than that, as long as it exists.
class OnlyUpTo {
 public:
  explicit OnlyUpTo(int64_t set) {
    hwy::DisableTargets(0);
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(set - 1));
  }
  ~OnlyUpTo() { hwy::SetSupportedTargetsForTest(0); }
  OnlyUpTo(const OnlyUpTo&) = delete;
  OnlyUpTo& operator=(const OnlyUpTo&) = delete;
};

class CpuParity : public testing::TestWithParam<const KernelVariant*> {};

TEST_P(CpuParity, MatchesTheReference) {
  const auto backend = make_vector_backend(5);
  ASSERT_NE(backend, nullptr) << "this processor has none of the sets";
  check(*GetParam(), *backend);
#if HWY_ARCH_X86
  for (const int64_t set : {HWY_AVX2, HWY_SSE4}) {
    SCOPED_TRACE(hwy::TargetName(set));
    const OnlyUpTo limit(set);
    ASSERT_EQ(vector_set(), set == HWY_AVX2 ? "AVX2" : "SSE4");
    check(*GetParam(), *backend);
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Kernels, CpuParity, testing::ValuesIn(vector_kernels()), test_name);

}  // namespace
}  // namespace tokamak::parity
