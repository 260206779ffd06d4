// The part that tests of GGUF files made of checkpoints share.
#pragma once
#include <unistd.h>

#include <filesystem>

#include "golden/made_gguf.h"
#include "golden/reference.h"

namespace tokamak::golden {

/// A file that the test's process alone has.
struct GgufGolden : testing::TestWithParam<std::string> {
  const std::string path =
      fmt::format("{}tokamak-{}-{}.gguf", testing::TempDir(), GetParam(), int64_t(getpid()));
  const DeviceSetup& cpu = setups().front();

  std::unique_ptr<Engine> open_form(const std::string& folder, const GgufForm& form) {
    auto checkpoint = open_safetensors_file(folder + "/model.safetensors");
    for (const std::string module : {"2_Dense/", "3_Dense/"}) {
      const std::string more = fmt::format("{}/{}model.safetensors", folder, module);
      if (!checkpoint || !std::filesystem::exists(more)) continue;
      checkpoint = with_tensors(*checkpoint, module, *open_safetensors_file(more));
    }
    EXPECT_TRUE(checkpoint) << checkpoint.error().message;
    if (!checkpoint) return nullptr;
    write_gguf(path, *checkpoint, form);
    return open(path, cpu);
  }
  void TearDown() override { std::filesystem::remove(path); }
};

}  // namespace tokamak::golden
