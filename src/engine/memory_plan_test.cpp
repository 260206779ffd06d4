// How much memory a model may take, and what of its cache is given up for that.
#include <gtest/gtest.h>

#include "base/bytes_text.h"
#include "engine/codec.h"
#include "engine/memory.h"

namespace tokamak {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct MemoryPlan : testing::Test {
  ModelFiles files;
  DeviceInfo device;
  OpenOptions options;

  void SetUp() override {
    auto read = read_model_files("tests/data/models/gemma3_softcap");
    ASSERT_TRUE(read) << read.error().message;
    files = *std::move(read);
    device = make_cpu_backend()->device();
    options.backend = "cpu";
    options.context = 64;
    options.chunk = 16;
    options.sequences = 8;
  }
  Result<Engine::Compiled> compile() const { return Engine::compile(files, device, options); }
  Footprint needed(uint32_t cache_tokens) {
    OpenOptions own = options;
    own.cache_tokens = cache_tokens;
    own.memory = "1T";
    const auto compiled = Engine::compile(files, device, own);
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled ? footprint(compiled->main.plan) : Footprint();
  }
  std::string error() const {
    const auto compiled = compile();
    return compiled ? "" : compiled.error().message;
  }
};

TEST_F(MemoryPlan, TheLimitIsASizeOrAShareOfWhatIsFree) {
  const auto limit = [&](const char* memory, uint64_t free) {
    options.memory = memory;
    options.free_memory = free;
    return memory_limit(options, device);
  };
  EXPECT_EQ(*limit("", 0), std::nullopt);
  EXPECT_EQ(*limit("", 100 * kMiB), std::nullopt) << "the system decides";
  EXPECT_EQ(*memory_limit(options, {.backend = BackendKind::kWebGpu, .software = true}), 90 * kMiB);
  EXPECT_EQ(*limit("70%", 100 * kMiB), 70 * kMiB);
  EXPECT_EQ(*limit("6GiB", 0), 6 * 1024 * kMiB);
  for (const char* wrong : {"six", "0", "0%", "101%", "%", "7 %", "-1"}) {
    const auto refused = limit(wrong, 100 * kMiB);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(
        refused.error().message,
        fmt::format("memory is \"{}\", expected a size as \"6GiB\" or a share as \"70%\".", wrong));
  }
  const auto unknown = limit("70%", 0);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("is not known; expected a size"), std::string::npos);
}

TEST_F(MemoryPlan, SequencesShareTheCacheThatThereIsRoomFor) {
  const Footprint one_context = needed(64), all = needed(8 * 64);
  ASSERT_GT(all.states, one_context.states);
  options.memory = fmt::format("{}", all.total());
  auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(cache_pool(compiled->main.plan).pages, 8u * 64 / kPageTokens);
  options.memory = fmt::format("{}", (all.total() + one_context.total()) / 2);
  compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  const CachePool pool = cache_pool(compiled->main.plan);
  EXPECT_GT(pool.pages, 64 / kPageTokens);
  EXPECT_LT(pool.pages, 8 * 64 / kPageTokens);
  const uint64_t total = footprint(compiled->main.plan).total();
  EXPECT_LE(total, *parse_bytes(options.memory));
  EXPECT_GT(total + pool.page_bytes, *parse_bytes(options.memory)) << "another page fits";
  options.memory = fmt::format("{}", one_context.total());
  EXPECT_EQ(error(), "");
}

TEST_F(MemoryPlan, AContextThatIsLeftOpenIsAsLongAsThereIsRoomFor) {
  files.description.config.set("max_position_embeddings", 100000);
  options.context = 0;
  options.memory = "";
  const auto compiled_for = [&](uint64_t free) {
    options.free_memory = free;
    auto compiled = compile();
    EXPECT_TRUE(compiled) << compiled.error().message;
    return *std::move(compiled);
  };
  const Engine::Compiled unknown = compiled_for(0);
  EXPECT_EQ(unknown.context, kDefaultContext);
  const CachePool pool = cache_pool(unknown.main.plan);
  EXPECT_EQ(pool.pages, 8 * kDefaultContext / kPageTokens);
  EXPECT_EQ(compiled_for(10 << 10).context, kDefaultContext);
  const Engine::Compiled long_one = compiled_for(uint64_t{1} << 40);
  EXPECT_EQ(long_one.context, kLongestDefaultContext);
  EXPECT_EQ(cache_pool(long_one.main.plan).pages, kLongestDefaultContext / kPageTokens);
  // Half of what is left beside the model is 16,384 positions and something.
  const uint64_t beside = needed_bytes(unknown) - pool.pages * pool.page_bytes;
  const uint64_t half = 20000 / kPageTokens * pool.page_bytes;
  const Engine::Compiled between = compiled_for((beside + 2 * half) * 100 / 90);
  EXPECT_EQ(between.context, kLongestDefaultContext / 2);
  // More sequences than would have 4,096 positions each share what there is room for.
  options.sequences = 64;
  const Engine::Compiled shared = compiled_for((beside + 2 * half) * 100 / 90);
  EXPECT_GT(shared.context, kDefaultContext);
  EXPECT_LE(cache_pool(shared.main.plan).pages, 2 * half / pool.page_bytes);
  options.sequences = 8;
  // A number of somebody's is kept, and a model that was made for less has that.
  options.context = 64;
  EXPECT_EQ(compiled_for(uint64_t{1} << 40).context, 64u);
  options.context = 0;
  options.cache_tokens = 8192;
  EXPECT_EQ(compiled_for(uint64_t{1} << 40).context, kDefaultContext);
  options.cache_tokens = 0;
  files.description.config.set("max_position_embeddings", 6000);
  EXPECT_EQ(compiled_for(uint64_t{1} << 40).context, 6000u);
}

TEST_F(MemoryPlan, ADraftModelHasItsPartOfTheMemory) {
  const uint64_t alone = needed(8 * 64).total();
  auto draft = read_model_files("tests/data/models/qwen3_qknorm");
  ASSERT_TRUE(draft) << draft.error().message;
  files.draft = std::make_shared<ModelFiles>(*std::move(draft));
  auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(needed_bytes(*compiled), alone + draft_bytes(*compiled));
  EXPECT_NE(memory_text(*compiled, options)
                .find(", and " + bytes_text(draft_bytes(*compiled)) + " for the draft model"),
            std::string::npos);
  // Both have a cache of the same number of positions, smaller where both do not fit.
  const uint64_t all = needed_bytes(*compiled), least = least_bytes(*compiled, options);
  options.memory = fmt::format("{}", (all + least) / 2);
  compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  const CachePool pool = cache_pool(compiled->main.plan);
  EXPECT_LT(pool.pages, 8 * 64 / kPageTokens);
  EXPECT_LE(needed_bytes(*compiled), *parse_bytes(options.memory));
  EXPECT_GT(needed_bytes(*compiled) + pool.page_bytes + compiled->draft.page_bytes,
            *parse_bytes(options.memory))
      << "another page of both fits";
  options.memory = fmt::format("{}", least - 1);
  EXPECT_NE(error().find("The model needs " + bytes_text(least)), std::string::npos) << error();
  EXPECT_NE(error().find(" for the draft model"), std::string::npos);
}

TEST_F(MemoryPlan, NotEvenOneContextIsAnErrorWithSizes) {
  const Footprint one_context = needed(64);
  options.memory = fmt::format("{}", one_context.total() - 1);
  const std::string message = error();
  for (const std::string& part :
       {"The model needs " + bytes_text(one_context.total()),
        bytes_text(one_context.constants) + " of weights", std::string("(f32) and states for 64 "),
        "memory allows " + bytes_text(one_context.total() - 1), std::string("--max-memory")}) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
  }
  EXPECT_EQ(message.find("--backend cpu"), std::string::npos) << "it runs there already";
  device.backend = BackendKind::kWebGpu;
  options.memory = "1";
  EXPECT_NE(error().find("(--backend cpu)"), std::string::npos) << error();
  device.backend = BackendKind::kCpu;
  options.memory = "90%";
  options.free_memory = one_context.total();
  EXPECT_NE(error().find("90% of the " + bytes_text(one_context.total()) + " that are free"),
            std::string::npos);
}

TEST_F(MemoryPlan, WhatIsTakenIsNamedInALine) {
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  options.free_memory = 8 * kMiB;
  const std::string text = memory_text(*compiled, options);
  EXPECT_NE(text.find("of cache for 512 positions (f32), "), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("Memory: ")) << text;
  EXPECT_TRUE(text.ends_with("of activations; 8.00 MiB free.")) << text;
  options.called = "chat";
  EXPECT_TRUE(memory_text(*compiled, options).starts_with("Memory of chat: "));
}

/// Weights that CUDA's kernels read over the bus.
TEST_F(MemoryPlan, WeightsStayInTheHostsMemoryWhereTheDeviceReadsThem) {
  device = DeviceInfo();
  device.backend = BackendKind::kCuda;
  device.features = kAllFeatures;
  device.subgroup_min = device.subgroup_max = 32;
  device.limits = {.workgroup_threads = 1024,
                   .workgroup_bytes = 49152,
                   .storage_buffers = 31,
                   .grid_dimension = 65535,
                   .binding_bytes = uint64_t{1} << 40,
                   .buffer_bytes = uint64_t{1} << 40};
  const Footprint one_context = needed(64);
  ASSERT_EQ(one_context.on_host, 0u);
  options.memory = fmt::format("{}", one_context.total() - 200'000);
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  const Footprint split = footprint(compiled->main.plan);
  EXPECT_GE(split.on_host, 200'000u);
  EXPECT_EQ(split.on_host + split.constants, one_context.constants);
  EXPECT_LE(split.total(), *parse_bytes(options.memory));
  // The last layers go first.
  bool has_begun = false;
  for (const Buffer& buffer : compiled->main.plan.buffers) {
    if (buffer.use != BufferUse::kConstant || buffer.bytes < 65536) continue;
    EXPECT_TRUE(buffer.on_host || !has_begun) << buffer.tensor.name;
    has_begun = has_begun || buffer.on_host;
  }
  const std::string text = memory_text(*compiled, options);
  EXPECT_NE(text.find(bytes_text(split.on_host) + " of weights that stay in the host's memory"),
            std::string::npos)
      << text;
  options.memory = fmt::format("{}", one_context.total() - one_context.constants);
  EXPECT_NE(error().find("The model needs " + bytes_text(one_context.total())), std::string::npos);
}

TEST_F(MemoryPlan, TheTowerForImagesCounts) {
  auto read = read_model_files("tests/data/vision/qwen3_5_vl_images");
  ASSERT_TRUE(read) << read.error().message;
  files = *std::move(read);
  options.sequences = 1;
  options.image_pixels = 1 << 16;
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  ASSERT_TRUE(compiled->tower);
  const uint64_t text = footprint(compiled->main.plan).total(), tower = tower_bytes(*compiled);
  EXPECT_GT(tower, footprint(compiled->tower->plan).constants);
  EXPECT_EQ(needed_bytes(*compiled), text + tower);
  EXPECT_NE(memory_text(*compiled, options).find(", " + bytes_text(tower) + " for images"),
            std::string::npos);
  options.memory = fmt::format("{}", text + tower);
  EXPECT_EQ(error(), "");
  options.memory = fmt::format("{}", text + tower - 1);
  EXPECT_NE(error().find(bytes_text(tower) + " for images, and "), std::string::npos) << error();
  options.image_pixels = 0;
  EXPECT_EQ(error(), "");
}

TEST(CodecMemory, CountsBesideTheModel) {
  const auto read = read_model_files("tests/data/speech/nanocodec");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(is_codec(*read));
  const auto plan = Codec::plan(*read, make_cpu_backend()->device(), {});
  ASSERT_TRUE(plan) << plan.error().message;
  const uint64_t needed = footprint(*plan).total();
  EXPECT_TRUE(check_codec_fits(*plan, 0, std::nullopt));
  EXPECT_TRUE(check_codec_fits(*plan, 100, needed + 100));
  const auto refused = check_codec_fits(*plan, kMiB, needed + kMiB - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(refused.error().message.find("needs " + bytes_text(needed) +
                                         " beside the 1.00 MiB of its model"),
            std::string::npos)
      << refused.error().message;
}

/// A device that knows how much of its memory is free, or that has none of its own.
class SomeDevice : public Backend {
 public:
  explicit SomeDevice(bool is_software) {
    info_.backend = BackendKind::kWebGpu;
    info_.software = is_software;
  }
  const DeviceInfo& device() const override { return info_; }
  uint64_t device_bytes() const override { return 0; }
  uint64_t free_bytes() const override { return 12; }
  Result<std::unique_ptr<Program>> compile(Plan, const ConstantReader&,
                                           const LoadProgress&) override {
    return unsupported("It runs nothing.");
  }

 private:
  DeviceInfo info_;
};

TEST(FreeMemory, IsTheHostsWhereADeviceHasNone) {
  EXPECT_GT(free_memory(*make_cpu_backend()), kMiB);
  EXPECT_GT(free_memory(SomeDevice(true)), kMiB);
  EXPECT_EQ(free_memory(SomeDevice(false)), 12u);
}

}  // namespace
}  // namespace tokamak
