#include "backend/webgpu/device.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "backend/webgpu/tiny_device.h"

namespace tokamak {
namespace {

TEST(WebGpuAdapters, AreDescribed) {
  auto devices = list_webgpu_devices();
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_FALSE(devices->empty());
  bool software = false;
  for (const DeviceInfo& device : *devices) {
    EXPECT_EQ(device.backend, BackendKind::kWebGpu);
    EXPECT_FALSE(device.name.empty());
    EXPECT_FALSE(device.driver.empty());
    EXPECT_GE(device.limits.binding_bytes, uint64_t{128} << 20);
    EXPECT_EQ((device.features & kFeatureSubgroups) != 0, device.subgroup_max > 0);
    EXPECT_FALSE(software && !device.software) << "hardware comes first";
    software = device.software;
  }
}

TEST(WebGpuAdapters, AreFoundWithoutTouchingStandardError) {
  testing::internal::CaptureStderr();
  const auto own_file = [] {
    struct stat status{};
    return fstat(STDERR_FILENO, &status) == 0 ? status.st_ino : 0;
  };
  const auto before = own_file();
  std::atomic<bool> is_over = false, has_changed = false;
  std::thread watcher([&] {
    while (!is_over) has_changed = has_changed || own_file() != before;
  });
  const auto look = [] { EXPECT_TRUE(list_webgpu_devices()); };
  std::thread other(look);
  look();
  other.join();
  is_over = true;
  watcher.join();
  EXPECT_FALSE(has_changed) << "not even for a moment: other threads write there, too";
  std::fputs("a line\n", stderr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a line\n") << "Dawn's remarks are left out";
}

TEST(WebGpuAdapters, OneThatDoesNotExistIsAUsageError) {
  auto device = open_webgpu_device({.device = 1000});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kUsage);
}

TEST(WebGpuAdaptersDeathTest, NoneAtAllSaysWhatToInstall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
          setenv(name, "/nonexistent/driver.json", 1);
        }
        const auto devices = list_webgpu_devices();
        if (!devices) std::fputs(devices.error().message.c_str(), stderr);
        std::exit(!devices && devices.error().code == ErrorCode::kDevice ? 0 : 1);
      },
      testing::ExitedWithCode(0), "No WebGPU device was found.*./dev setup");
}

TEST(WebGpuDevice, GrantsNoMoreThanAskedFor) {
  const auto device = tiny_device({.disabled = kAllFeatures, .default_limits = true});
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->info().features, 0u);
  const DeviceLimits defaults;
  EXPECT_EQ(device->info().limits.workgroup_bytes, defaults.workgroup_bytes);
  EXPECT_EQ(device->info().limits.workgroup_threads, defaults.workgroup_threads);
  EXPECT_EQ(device->info().limits.storage_buffers, defaults.storage_buffers);
}

BufferHandle make_buffer(const WebGpuDevice& device, uint64_t size, WGPUChainedStruct* chain = {}) {
  const WGPUBufferDescriptor descriptor = {
      .nextInChain = chain, .usage = WGPUBufferUsage_CopyDst, .size = size};
  return BufferHandle(wgpuDeviceCreateBuffer(device.handle(), &descriptor));
}

TEST(WebGpuDevice, ChecksNameTheFirstThatTheDeviceRefused) {
  const auto device = tiny_device();
  ASSERT_NE(device, nullptr);
  Checks checks(*device);
  const auto make = [&](const char* what, uint64_t size) {
    checks.run(what, [&] { make_buffer(*device, size); });
  };
  make("a small one", 16);
  make("the huge one", 1ull << 60);
  make("another huge one", 1ull << 61);
  const auto result = checks.finish();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kDevice);
  EXPECT_EQ(result.error().message.find("the huge one: "), 0u) << result.error().message;
  make("a small one", 16);
  EXPECT_TRUE(checks.finish());
}

TEST(WebGpuDevice, ChecksTellMemoryThatRanOutBeforeAnythingElse) {
  const auto device = tiny_device();
  ASSERT_NE(device, nullptr);
  WGPUDawnFakeBufferOOMForTesting fake = {.chain = {.sType = WGPUSType_DawnFakeBufferOOMForTesting},
                                          .fakeOOMAtDevice = 1};
  Checks checks(*device);
  checks.run("the huge one", [&] { make_buffer(*device, 1ull << 60); });
  checks.run("weights", [&] { make_buffer(*device, 16, &fake.chain); });
  checks.run("more weights", [&] { make_buffer(*device, 16, &fake.chain); });
  const auto result = checks.finish();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(result.error().message.find("weights: "), 0u) << result.error().message;
}

TEST(WebGpuDevice, AnErrorOfTheQueueIsReportedOnce) {
  const auto device = tiny_device();
  ASSERT_NE(device, nullptr);
  const BufferHandle buffer = make_buffer(*device, 16);
  const uint32_t word = 0;
  wgpuQueueWriteBuffer(device->queue(), buffer.get(), 64, &word, 4);
  device->process_events();
  const auto status = device->status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kDevice);
  EXPECT_TRUE(device->status());
}

TEST(WebGpuDevice, StaysLost) {
  const auto device = tiny_device();
  ASSERT_NE(device, nullptr);
  wgpuDeviceForceLoss(device->handle(), WGPUDeviceLostReason_Unknown, wgpu_text("pulled out"));
  device->process_events();
  for (int i = 0; i < 2; ++i) {
    const auto status = device->status();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kDeviceLost);
    EXPECT_NE(status.error().message.find("pulled out"), std::string::npos)
        << status.error().message;
  }
}

}  // namespace
}  // namespace tokamak
