// Which devices there are, and what is said of those that are not: with the emulator's, which obey
// CUDA_VISIBLE_DEVICES as the driver does.
#include "backend/cuda/visible.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/cuda/device.h"

namespace tokamak {
namespace {

/// Set while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string error_of(uint32_t device) {
  const auto backend = open_cuda_backend({.device = device});
  return backend ? "none" : backend.error().message;
}

TEST(CudaDevices, AreListedWithTheNamesThatChooseThem) {
  const Setting three("TOKAMAK_EMULATED_DEVICES", "3");
  const auto all = list_cuda_devices();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[1].place.name, "GPU-e0010203-0000-0000-0000-000000000001");
  EXPECT_EQ((*all)[1].place.address, "0000:02:00.0");
  EXPECT_EQ((*all)[1].place.bytes, uint64_t{1} << 40);
  EXPECT_FALSE((*all)[1].place.is_slice);
}

TEST(CudaDevices, AreThoseThatTheEnvironmentLeavesInItsOrder) {
  const Setting three("TOKAMAK_EMULATED_DEVICES", "3");
  const Setting visible("CUDA_VISIBLE_DEVICES", "2,0");
  const auto all = list_cuda_devices();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].place.address, "0000:03:00.0");
  EXPECT_EQ((*all)[1].place.address, "0000:01:00.0");
  EXPECT_EQ(error_of(1), "none");
  EXPECT_EQ(error_of(2),
            "There is no CUDA device 2; there are 2, from 0 on, since CUDA_VISIBLE_DEVICES is "
            "\"2,0\".");
}

TEST(CudaDevices, OfADividedGpuAreSlices) {
  const Setting name("TOKAMAK_EMULATED_NAME", "NVIDIA H100 80GB HBM3 MIG 1g.10gb");
  const auto all = list_cuda_devices();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE((*all)[0].place.is_slice);
  EXPECT_TRUE((*all)[0].place.name.starts_with("MIG-e0010203-")) << (*all)[0].place.name;
}

TEST(CudaDevices, ThatAreNotThereAreExplained) {
  EXPECT_EQ(error_of(7), "There is no CUDA device 7; there is one, 0.");
  {
    const Setting visible("CUDA_VISIBLE_DEVICES", "");
    EXPECT_TRUE(error_of(0).starts_with("CUDA_VISIBLE_DEVICES is \"\", which leaves CUDA no GPU."))
        << error_of(0);
  }
  const Setting busy("TOKAMAK_EMULATED_BUSY", "1");
  EXPECT_TRUE(error_of(0).starts_with("CUDA device 0 lets no other program in")) << error_of(0);
}

TEST(CudaDevices, MayBeShownByTheKernelAlone) {
  EXPECT_EQ(cuda::no_device_text(std::nullopt, 0), "The NVIDIA driver has no GPU.");
  const std::string text = cuda::no_device_text(std::nullopt, 4);
  EXPECT_NE(text.find("4 GPUs but gives CUDA none"), std::string::npos) << text;
  EXPECT_NE(text.find("MIG"), std::string::npos) << text;
}

}  // namespace
}  // namespace tokamak
