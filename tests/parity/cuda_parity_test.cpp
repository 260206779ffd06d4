// Every kernel for CUDA against the CPU reference: on the first CUDA device there is, which without
// a GPU is the emulator.
#include <gtest/gtest.h>

#include "backend/cuda/device.h"
#include "base/environment.h"
#include "kernel_check.h"

namespace tokamak::parity {
namespace {

/// Null where there is no CUDA.
Backend* backend() {
  static const auto opened = open_cuda_backend({});
  return opened ? opened->get() : nullptr;
}

class CudaParity : public testing::TestWithParam<const KernelVariant*> {};

TEST_P(CudaParity, MatchesTheReference) {
  if (backend() == nullptr) {
    const std::string why = open_cuda_backend({}).error().message;
    if (!environment_variable("TOKAMAK_REQUIRE_GPU").empty()) FAIL() << why;
    GTEST_SKIP() << why;
  }
  check(*GetParam(), *backend());
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaParity, testing::ValuesIn(variants_for(BackendKind::kCuda)),
                         test_name);

}  // namespace
}  // namespace tokamak::parity
