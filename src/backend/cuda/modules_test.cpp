// Machine code that is kept from run to run, by the emulator's compiler and without one.
#include "backend/cuda/modules.h"

#include <filesystem>

#include "backend/tiny_plan.h"

namespace tokamak::cuda {
namespace {

class CudaModules : public testing::Test {
 public:
  std::string folder = testing::TempDir() + "tokamak_kept_modules";

  void SetUp() override { std::filesystem::remove_all(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::shared_ptr<CudaDevice> open() {
    auto device = CudaDevice::open({.cache_dir = folder});
    EXPECT_TRUE(device) << device.error().message;
    return device ? *device : nullptr;
  }
};

/// How many kernels of the tiny plan were kept, of how many; or why there are none.
std::string kept(CudaDevice& device, const Result<Compiler>& by) {
  const auto compiled = compile_plan(device, tiny_plan(device.info()), by);
  if (!compiled) return compiled.error().message;
  return fmt::format("{} of {}", std::ranges::count(compiled->are_cached, 1),
                     compiled->codes.size());
}

TEST_F(CudaModules, AreLoadedWithoutACompilerWhereAllAreKept) {
  const auto device = open();
  ASSERT_NE(device, nullptr);
  const Result<Compiler> none = unsupported("There is no NVRTC.");
  const std::string missing = kept(*device, none);
  EXPECT_TRUE(missing.starts_with("Kernel ")) << missing;
  EXPECT_TRUE(missing.ends_with(" is not kept of an earlier run. There is no NVRTC.")) << missing;
  const auto made = compile_plan(*device, tiny_plan(device->info()));
  ASSERT_TRUE(made) << made.error().message;
  auto again = compile_plan(*device, tiny_plan(device->info()), none);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->codes, made->codes);
  EXPECT_EQ(std::ranges::count(again->are_cached, 1), std::ssize(again->codes));
  EXPECT_TRUE(Modules::load(device, *again));
}

TEST_F(CudaModules, AreMadeAgainByAnotherCompiler) {
  const auto device = open();
  ASSERT_NE(device, nullptr);
  ASSERT_TRUE(compiler()) << compiler().error().message;
  const std::string all =
      std::to_string(compile_plan(*device, tiny_plan(device->info()))->codes.size());
  EXPECT_EQ(kept(*device, compiler()), all + " of " + all);
  Compiler newer = *compiler();
  newer.minor += 1;
  EXPECT_EQ(kept(*device, newer), "0 of " + all);
  EXPECT_EQ(kept(*device, newer), all + " of " + all);
  EXPECT_EQ(kept(*device, compiler()), "0 of " + all);
}

}  // namespace
}  // namespace tokamak::cuda
