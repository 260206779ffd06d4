#include "backend/webgpu/dawn/quiet.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Quiet, DropsTheRemarksAndKeepsTheRest) {
  testing::internal::CaptureStderr();
  without_dawn_remarks([] {
    std::fputs("driver: something is odd\n", stderr);
    std::fputs("Warning: maxThings artificially reduced from 1000 to 16 to fit.\n", stderr);
    std::fputs("no line end", stderr);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "driver: something is odd\nno line end");
}

}  // namespace
}  // namespace tokamak
