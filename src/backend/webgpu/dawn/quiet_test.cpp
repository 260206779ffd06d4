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

TEST(Quiet, DropsWhatFollowsARemark) {
  testing::internal::CaptureStderr();
  without_dawn_remarks([] {
    std::fputs("Warning: vkCreateInstance: Found no drivers!\n", stderr);
    std::fputs("Warning: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER\n", stderr);
    std::fputs("    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n", stderr);
    std::fputs("Warning: vkCreateInstance failed with VK_ERROR_OUT_OF_HOST_MEMORY\n", stderr);
    std::fputs("    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n", stderr);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Warning: vkCreateInstance failed with VK_ERROR_OUT_OF_HOST_MEMORY\n"
            "    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n");
}

}  // namespace
}  // namespace tokamak
