#include "backend/webgpu/dawn/quiet.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tokamak {
namespace {

std::string passed_on(std::initializer_list<const char*> texts) {
  testing::internal::CaptureStderr();
  for (const char* text : texts) std::fputs(text, stderr_without_remarks());
  std::fflush(stderr_without_remarks());
  return testing::internal::GetCapturedStderr();
}

TEST(Quiet, DropsTheRemarksAndKeepsTheRest) {
  EXPECT_EQ(passed_on({"driver: something is odd\n",
                       "Warning: maxThings artificially reduced from 1000 to 16 to fit.\n",
                       "no line end", ", but here it is\n"}),
            "driver: something is odd\nno line end, but here it is\n");
}

TEST(Quiet, DropsWhatFollowsARemark) {
  EXPECT_EQ(passed_on({"Warning: vkCreateInstance: Found no drivers!\n",
                       "Warning: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER\n",
                       "    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n",
                       "Warning: vkCreateInstance failed with VK_ERROR_OUT_OF_HOST_MEMORY\n",
                       "    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n"}),
            "Warning: vkCreateInstance failed with VK_ERROR_OUT_OF_HOST_MEMORY\n"
            "    at CheckVkSuccessImpl (VulkanError.cpp:106)\n\n");
}

TEST(Quiet, KeepsLongLinesWhole) {
  const std::string kept = std::string(3 * BUFSIZ, 'x') + " artificially reduced\n";
  const std::string dropped = "artificially reduced from " + std::string(3 * BUFSIZ, 'x') + "\n";
  EXPECT_EQ(passed_on({kept.c_str(), dropped.c_str()}), kept);
}

TEST(Quiet, TakesLinesOfSeveralThreads) {
  testing::internal::CaptureStderr();
  const auto write = [] {
    for (int i = 0; i < 1000; ++i) {
      std::fputs("a line\n", stderr_without_remarks());
      std::fputs("artificially reduced from 2 to 1\n", stderr_without_remarks());
    }
  };
  std::thread other(write);
  write();
  other.join();
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += "a line\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), expected);
}

}  // namespace
}  // namespace tokamak
