// A codec on an engine's device, which is lost: by the codec's own steps, and by the engine's.
#include "engine/codec.h"

#include <algorithm>

#include "reliability/fragile_engine.h"

namespace tokamak::golden {
namespace {

const std::string kCodec = TOKAMAK_TEST_DATA "/speech/nanocodec";

std::unique_ptr<Engine> open_model(Fault& fault) {
  OpenOptions options;
  options.backend = "cpu-reference";
  options.context = 32;
  return open_fragile("llama_untied", fault, options);
}

/// Seven frames from the fifth on.
std::vector<float> decoded(Engine& engine) {
  const auto codec = engine.codec(kCodec);
  EXPECT_TRUE(codec) << codec.error().message;
  if (!codec) return {};
  std::vector<uint32_t> codes(12 * (*codec)->groups());
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = uint32_t(i * 37 % (*codec)->codes_per_group());
  }
  const auto samples = (*codec)->decode(codes, 5);
  EXPECT_TRUE(samples) << samples.error().message;
  return samples.value_or(std::vector<float>());
}

TEST(CodecOnADevice, GivesTheSameSamplesWhereThatIsLost) {
  Fault fault;
  const auto engine = open_model(fault);
  ASSERT_NE(engine, nullptr);
  fault.count_from_here();
  const std::vector<float> whole = decoded(*engine);
  ASSERT_EQ(whole.size(), 7u * 210u);
  const uint32_t steps = fault.counted();
  ASSERT_EQ(steps, 4u) << "one of each stage";
  for (const bool before : {false, true}) {
    for (uint32_t after = 0; after < steps; ++after) {
      Fault own;
      own.before_it_runs = before;
      const auto fragile = open_model(own);
      ASSERT_NE(fragile, nullptr);
      own.count_from_here();
      own.after_steps = after;
      EXPECT_EQ(decoded(*fragile), whole) << after;
      EXPECT_EQ(own.losses, 1u);
      EXPECT_EQ(decoded(*fragile), whole) << "and again";
    }
  }
}

TEST(CodecOnADevice, FollowsTheEngineToItsNextDevice) {
  Fault fault;
  const auto engine = open_model(fault);
  ASSERT_NE(engine, nullptr);
  const std::vector<float> whole = decoded(*engine);
  const std::vector<uint32_t> ids = {1, 2, 3};
  const std::vector<float> logits = logits_of(*engine, ids);
  fault.count_from_here();
  fault.after_steps = 0;
  EXPECT_EQ(logits_of(*engine, ids), logits);
  ASSERT_EQ(fault.losses, 1u);
  EXPECT_EQ(decoded(*engine), whole);
  // And the engine does what it did, where it was the codec that lost the device.
  fault.times = 2;
  fault.count_from_here();
  EXPECT_EQ(decoded(*engine), whole);
  ASSERT_EQ(fault.losses, 2u);
  EXPECT_EQ(logits_of(*engine, ids), logits);
}

TEST(CodecOnADevice, GivesUpWhereItIsLostAgainAndAgain) {
  Fault fault;
  const auto engine = open_model(fault);
  ASSERT_NE(engine, nullptr);
  const auto codec = engine->codec(kCodec);
  ASSERT_TRUE(codec);
  fault.count_from_here();
  fault.after_steps = 0;
  fault.times = UINT32_MAX;
  const auto samples = (*codec)->decode(std::vector<uint32_t>{1, 2, 3, 4});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(fault.losses, 3u);
}

TEST(CodecOnADevice, IsNotAModelThatWrites) {
  Fault fault;
  const auto engine = open_model(fault);
  ASSERT_NE(engine, nullptr);
  const auto codec = engine->codec(model_folder("llama_untied"));
  ASSERT_FALSE(codec);
  EXPECT_EQ(codec.error().message,
            model_folder("llama_untied") +
                ": This is a LlamaForCausalLM, no codec; codecs are NanoCodecDecoder.");
}

}  // namespace
}  // namespace tokamak::golden
