#include "backend/webgpu/device_size.h"

#include <gtest/gtest.h>

#include "backend/webgpu/tiny_device.h"

namespace tokamak {
namespace {

uint32_t multiprocessors(std::string_view name, std::string_view vendor = "") {
  return size_of_device(name, vendor).multiprocessors;
}

TEST(DeviceSizes, AreThoseOfTheLongestNameThatFits) {
  EXPECT_EQ(multiprocessors("NVIDIA H200"), 132u);
  EXPECT_EQ(multiprocessors("NVIDIA H100 80GB HBM3"), 132u);
  EXPECT_EQ(multiprocessors("NVIDIA H100 PCIe"), 114u);
  EXPECT_EQ(multiprocessors("NVIDIA A100-SXM4-80GB"), 108u);
  EXPECT_EQ(multiprocessors("NVIDIA A10"), 72u);
  EXPECT_EQ(multiprocessors("NVIDIA GeForce RTX 4070 Ti SUPER"), 66u);
  EXPECT_EQ(multiprocessors("NVIDIA GeForce RTX 4090"), 128u);
  EXPECT_EQ(multiprocessors("NVIDIA GeForce RTX 4090 Laptop GPU"), 76u);
  EXPECT_EQ(multiprocessors("AMD Radeon RX 7900 XTX (RADV NAVI31)"), 96u);
  EXPECT_EQ(multiprocessors("Intel(R) Arc(tm) A770 Graphics (DG2)"), 32u);
  EXPECT_EQ(multiprocessors("Apple M2 Max", "apple"), 38u);
  const DeviceSize size = size_of_device("NVIDIA H200", "nvidia");
  EXPECT_EQ(size.cache_bytes, uint64_t{50} << 20);
  EXPECT_EQ(size.source, "listed for H200");
}

TEST(DeviceSizes, AreAssumedOfOtherDevices) {
  const DeviceSize unknown;
  EXPECT_EQ(size_of_device("NVIDIA GeForce RTX 9999", "nvidia"), unknown);
  EXPECT_EQ(size_of_device("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "nvidia"), unknown);
  EXPECT_EQ(size_of_device("NVIDIA GeForce RTX 2080 with Max-Q Design", "nvidia"), unknown);
  EXPECT_EQ(size_of_device("NVIDIA L400", "nvidia"), unknown) << "no whole word";
  EXPECT_EQ(size_of_device("", ""), unknown);
  EXPECT_EQ(multiprocessors("Intel(R) UHD Graphics 770 (ADL-S GT1)", "intel"), 8u);
  EXPECT_EQ(size_of_device("Apple M9", "apple").source, "assumed for vendor apple");
}

TEST(DeviceSizes, OfSoftwareAreThoseOfALargeGpuUnlessSomethingElseIsSaid) {
  const auto of = [](const WebGpuOptions& options) {
    const auto device = tiny_device(options);
    return device == nullptr ? DeviceSize() : device->info().size;
  };
  const auto devices = list_webgpu_devices();
  ASSERT_TRUE(devices);
  if (devices->front().software) {
    EXPECT_EQ(of({}), size_of_software());
  }
  const DeviceSize given = of({.multiprocessors = 20});
  EXPECT_EQ(given.multiprocessors, 20u);
  EXPECT_EQ(given.source, "as TOKAMAK_MULTIPROCESSORS says");
}

}  // namespace
}  // namespace tokamak
