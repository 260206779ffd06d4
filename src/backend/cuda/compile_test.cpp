#include "backend/cuda/compile.h"

#include <gtest/gtest.h>

namespace tokamak::cuda {
namespace {

/// NVRTC 13.0 and some of what it knows.
Compiler nvrtc_13() {
  return {.major = 13, .minor = 0, .path = "libnvrtc.so.13", .architectures = {75, 80, 86, 90}};
}

TEST(CodeTarget, IsTheGpuItselfWhereTheCompilerKnowsIt) {
  for (const int known : nvrtc_13().architectures) {
    const auto target = code_target(nvrtc_13(), 12000, known);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_EQ(*target, CodeTarget{known});
  }
}

TEST(CodeTarget, IsAnOlderOneOfItsMajorVersion) {
  const auto target = code_target(nvrtc_13(), 12000, 89);
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, CodeTarget{86});
  EXPECT_EQ(target->name(), "sm_86");
}

TEST(CodeTarget, IsPtxForAGpuThatIsNewerThanTheCompiler) {
  const auto target = code_target(nvrtc_13(), 13000, 120);
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, (CodeTarget{90, true}));
  EXPECT_EQ(compile_options(*target).front(), "--gpu-architecture=compute_90");
}

TEST(CodeTarget, ReportsWhatIsMissing) {
  const auto old_driver = code_target(nvrtc_13(), 12090, 120);
  ASSERT_FALSE(old_driver);
  EXPECT_EQ(old_driver.error().message,
            "libnvrtc.so.13 (NVRTC 13.0) makes no code that a GPU of sm_120 and a driver of CUDA "
            "12.9 take: a newer driver or a newer NVRTC is needed.");
  const auto old_gpu = code_target(nvrtc_13(), 13000, 70);
  ASSERT_FALSE(old_gpu);
  EXPECT_NE(old_gpu.error().message.find("an older NVRTC"), std::string::npos)
      << old_gpu.error().message;
}

}  // namespace
}  // namespace tokamak::cuda
