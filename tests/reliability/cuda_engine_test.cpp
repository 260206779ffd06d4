// Whole models on the emulated CUDA device: the ways in which launches reach it give the same bits,
// and one that is lost by itself, with an error that stays until its context is reset, changes no
// token (device_loss_test.cpp has backends that only say that they are lost).
#include <cstdlib>

#include "backend/cuda/device.h"
#include "reliability/model_on_device.h"

namespace tokamak::golden {
namespace {

constexpr const char* kEmulatedFault = "TOKAMAK_EMULATED_FAULT";

constexpr const char* kEmulatedDevices = "TOKAMAK_EMULATED_DEVICES";
constexpr const char* kEmulatedPeers = "TOKAMAK_EMULATED_PEERS";
constexpr const char* kEmulatedMemory = "TOKAMAK_EMULATED_MEMORY";

constexpr const char* kLaunches = "TOKAMAK_CUDA_LAUNCHES";

struct Answer {
  std::vector<uint32_t> ids;
  std::vector<float> logits;  // after them
  std::vector<std::string> notices;
};

/// Windows, tokens that the device chooses by itself, and a prompt.
Answer answer(const std::vector<uint32_t>& gpus = {}) {
  Answer out;
  OpenOptions options{.model = model_folder("gemma3_hub"), .backend = "cuda", .context = 256};
  options.gpus = gpus;
  options.self_test = false;
  options.notice = [&](std::string_view text) { out.notices.emplace_back(text); };
  options.reopen = [again = options] {
    ::unsetenv(kEmulatedFault);
    return open_backend(again);
  };
  const auto engine = Engine::open(options);
  EXPECT_TRUE(engine) << engine.error().message;
  if (!engine) return out;
  Request request{.prompt = prompt_ids()};
  request.prompt.resize(12);
  request.params.sampling.temperature = 0;
  request.params.max_tokens = 12;
  request.params.end_ids.emplace();
  const auto done = (*engine)->generate(std::move(request));
  EXPECT_TRUE(done) << done.error().message;
  if (done) out.ids = done->ids;
  request = {.prompt = out.ids};
  request.params.max_tokens = 0;
  request.logits = [&](std::span<const float> own) { out.logits.assign(own.begin(), own.end()); };
  EXPECT_TRUE((*engine)->generate(std::move(request)));
  return out;
}

struct CudaEngine : testing::Test {
  void SetUp() override {
    const auto devices = list_cuda_devices();
    if (devices && !devices->empty() && devices->front().info.name.starts_with("emulated")) return;
    GTEST_SKIP() << "there is no emulated CUDA device";
  }
  void TearDown() override {
    ::unsetenv(kEmulatedFault);
    ::unsetenv(kLaunches);
    ::unsetenv(kEmulatedDevices);
    ::unsetenv(kEmulatedPeers);
    ::unsetenv(kEmulatedMemory);
  }

  static const Answer& expected() {
    static const Answer own = answer();
    return own;
  }
};

/// The emulator lets a workgroup of launches that depend on each other in part begin early.
TEST_F(CudaEngine, HasTheSameBitsHoweverLaunchesReachTheDevice) {
  ASSERT_EQ(expected().ids.size(), 12u);
  for (const char* launches : {"eager", "graph"}) {
    ::setenv(kLaunches, launches, 1);
    const Answer other = answer();
    EXPECT_EQ(other.ids, expected().ids) << launches;
    EXPECT_EQ(other.logits, expected().logits) << launches;
  }
}

TEST_F(CudaEngine, ThatLosesItsDeviceContinuesWithTheSameTokens) {
  ASSERT_EQ(expected().ids.size(), 12u);
  for (const uint32_t launch : {3u, 200u}) {  // of the prompt, and of a graph
    ::setenv(kEmulatedFault, fmt::format("launch:{}:700", launch).c_str(), 1);
    const Answer other = answer();
    EXPECT_EQ(other.ids, expected().ids) << "launch " << launch;
    EXPECT_EQ(other.logits, expected().logits) << "launch " << launch;
    ASSERT_EQ(other.notices.size(), 1u) << "launch " << launch;
    EXPECT_NE(other.notices[0].find("has been opened again"), std::string::npos)
        << other.notices[0];
  }
}

TEST_F(CudaEngine, OfTwoRanksContinuesWithTheSameTokensWhenOneIsLost) {
  ::setenv(kEmulatedDevices, "2", 1);
  const Answer two = answer({0, 1});
  EXPECT_EQ(two.ids, expected().ids);
  ::setenv(kEmulatedFault, "launch:401:700", 1);  // of a graph
  const Answer other = answer({0, 1});
  EXPECT_EQ(other.ids, two.ids);
  EXPECT_EQ(other.logits, two.logits);
  EXPECT_EQ(other.notices.size(), 1u);
}

TEST_F(CudaEngine, OfTwoRanksNamesDevicesWithoutALink) {
  ::setenv(kEmulatedDevices, "2", 1);
  ::setenv(kEmulatedPeers, "0", 1);
  OpenOptions options{.model = model_folder("llama_untied"), .backend = "cuda"};
  options.gpus = {0, 1};
  options.split = "ranks";
  options.self_test = false;
  const auto engine = Engine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find("CUDA devices 0 and 1 cannot read each other's memory"),
            std::string::npos)
      << engine.error().message;
}

/// The whole model takes 417 KiB.
TEST_F(CudaEngine, IsOfTwoRanksWhereOneDeviceHasNoRoom) {
  ::setenv(kEmulatedDevices, "2", 1);
  std::string notices;
  OpenOptions options{.model = model_folder("llama_untied"), .backend = "cuda", .context = 64};
  options.memory = "400KiB";
  options.self_test = false;
  options.notice = [&](std::string_view text) { notices += text; };
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->device().ranks, 2u);
  EXPECT_NE(notices.find("a GPU has room for 400.00 KiB: it runs on the CUDA devices 0, 1"),
            std::string::npos)
      << notices;
  ::setenv(kEmulatedPeers, "0", 1);
  options.chunk = 16;  // both have the activations
  notices.clear();
  const auto layers = Engine::open(options);
  ASSERT_TRUE(layers) << layers.error().message;
  EXPECT_EQ((*layers)->backend().stages().size(), 2u);
  EXPECT_NE(notices.find("it runs on the CUDA devices 0, 1 (--gpus, --split layers)"),
            std::string::npos)
      << notices;
}

/// Two have room for 417 KiB, but not for the table of tokens that each has whole.
TEST_F(CudaEngine, IsOfThreeRanksWhereTwoHaveNoRoomForWhatIsWhole) {
  ::setenv(kEmulatedDevices, "3", 1);
  OpenOptions options{.model = model_folder("llama_untied"), .backend = "cuda", .context = 64};
  options.memory = "295KiB";
  options.chunk = 16;
  options.self_test = false;
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->device().ranks, 3u);
}

/// In front of the test that loses the second device: the emulator keeps its memory then.
TEST_F(CudaEngine, NamesTheLayersThatADeviceHasNoRoomFor) {
  ::setenv(kEmulatedDevices, "2", 1);
  ::setenv(kEmulatedMemory, "300000000,1000", 1);
  OpenOptions options{.model = model_folder("llama_untied"), .backend = "cuda", .context = 64};
  options.gpus = {0, 1};
  options.split = "layers";
  options.self_test = false;
  const auto engine = Engine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find(
                "are needed for layer 3 of 3, but \"emulated CUDA device\" has room for 900 B"),
            std::string::npos)
      << engine.error().message;
}

/// Seven layers, without a link; one device is lost, and all go on.
TEST_F(CudaEngine, HasLayersOnDevicesOfDifferentSizes) {
  ::setenv(kEmulatedDevices, "2", 1);
  ::setenv(kEmulatedPeers, "0", 1);
  ::setenv(kEmulatedMemory, "300000000,100000000", 1);
  ::setenv(kEmulatedFault, "launch:401:700", 1);
  const Answer two = answer({0, 1});
  EXPECT_EQ(two.ids, expected().ids);
  EXPECT_EQ(two.logits, expected().logits);
  ASSERT_EQ(two.notices.size(), 2u) << "where layers are, and the loss";
  EXPECT_NE(two.notices[0].find("layers 1 to 6 on \"emulated CUDA device\" (1.51 MiB of"),
            std::string::npos)
      << two.notices[0];
  EXPECT_NE(two.notices[0].find("layer 7 on"), std::string::npos) << two.notices[0];
}

}  // namespace
}  // namespace tokamak::golden
