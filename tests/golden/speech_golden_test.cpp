// Models that hear against transformers: features, the encoder's rows, logits, and whole texts.
// Each stage is compared by itself, so that a failure says which one differs.
#include <gtest/gtest.h>

#include <optional>

#include "audio/frames.h"
#include "audio/log_mel.h"
#include "golden/recorded_sounds.h"
#include "golden/reference.h"
#include "speech/speech_steps.h"
#include "speech/transcriber.h"
#include "speech/whisper_tokens.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/speech/";

class SpeechGolden : public testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
 protected:
  void SetUp() override {
    require_device(setup());
    if (IsSkipped() || HasFatalFailure()) return;
    golden_ = read_json(folder() + "golden.json");
    auto arrays = open_safetensors_file(folder() + "golden.safetensors");
    ASSERT_TRUE(arrays) << arrays.error().message;
    arrays_ = *std::move(arrays);
    engine_ = open(kFolder + std::get<0>(GetParam()), setup());
    ASSERT_NE(engine_, nullptr);
    auto steps = SpeechSteps::start(engine_->program(), model());
    ASSERT_TRUE(steps) << steps.error().message;
    steps_ = *std::move(steps);
  }

  const DeviceSetup& setup() const { return std::get<1>(GetParam()); }
  std::string folder() const { return kFolder + std::get<0>(GetParam()) + "/"; }
  const SpeechModel& model() const { return *engine_->compiled().speech; }
  const Json::Array& cases() const { return golden_.find("cases")->as_array(); }
  std::vector<float> array(const Json& one, const char* field) const {
    return recorded(arrays_, one.find(field)->as_string());
  }

  /// The input of the first stage.
  std::vector<float> input_of(const Json& one) const {
    Samples samples = samples_of(folder() + one.find("wav")->as_string());
    if (model().input == SoundInput::kSamples) return samples;
    if (model().input == SoundInput::kFrames) return levelled_frames(samples, model().gain);
    samples.resize(model().max_samples);
    return LogMel(model().bins).of(samples);
  }

  void expect_rows(std::span<const float> expected, std::span<const float> actual) const {
    const double error = relative_error(expected, actual);
    EXPECT_LE(error, setup().tolerance);
    fmt::print("speech {} {}: within {:.1e}\n", std::get<0>(GetParam()), setup().name, error);
  }

  /// Greedy from the logits after `prefix`, as `forbid` changes them.
  std::vector<uint32_t> greedy(std::vector<uint32_t> prefix, size_t count,
                               std::optional<uint32_t> end, auto forbid) {
    std::vector<uint32_t> ids;
    steps_->restart();
    while (ids.size() < count && !(end && !ids.empty() && ids.back() == *end)) {
      const auto logits = steps_->feed(prefix);
      EXPECT_TRUE(logits) << logits.error().message;
      if (!logits) break;
      std::vector<float> allowed(logits->begin(), logits->end());
      forbid(std::span<const uint32_t>(ids), std::span<float>(allowed));
      ids.push_back(uint32_t(argmax(allowed)));
      prefix = {ids.back()};
    }
    return ids;
  }

  Json golden_;
  TensorFile arrays_;
  std::unique_ptr<Engine> engine_;
  std::optional<SpeechSteps> steps_;
};

class Moonshine : public SpeechGolden {};

TEST_P(Moonshine, EncodesAndWritesAsRecorded) {
  for (const Json& one : cases()) {
    SCOPED_TRACE(one.find("wav")->as_string());
    std::vector<float> encoded;
    ASSERT_TRUE(steps_->hear(input_of(one), &encoded));
    expect_rows(array(one, "encoder_output"), encoded);
    const std::vector<uint32_t> expected = ids_of(*one.find("greedy")->find("ids"));
    // The logits of each step on the recorded way.
    const bool has_all = one.find("step_logits") != nullptr;
    const std::vector<float> logits = array(one, has_all ? "step_logits" : "logits_first3");
    const size_t vocab = engine_->compiled().facts.vocab;
    for (size_t i = 0; i * vocab < logits.size(); ++i) {
      const uint32_t id = i == 0 ? model().start : expected[i - 1];
      const auto actual = steps_->feed({&id, 1});
      ASSERT_TRUE(actual) << actual.error().message;
      expect_rows(std::span(logits).subspan(i * vocab, vocab), *actual);
    }
    const auto all_allowed = [](auto, auto) {};
    EXPECT_EQ(greedy({model().start}, expected.size(), {}, all_allowed), expected);
  }
}

class Whisper : public SpeechGolden {};

TEST_P(Whisper, EncodesAndTranscribesAsRecorded) {
  const auto tokens = WhisperTokens::read(engine_->files().description, model().start,
                                          engine_->compiled().facts.vocab);
  ASSERT_TRUE(tokens) << tokens.error().message;
  for (const Json& one : cases()) {
    SCOPED_TRACE(one.find("wav")->as_string());
    const std::vector<float> mel = input_of(one);
    const std::vector<float> expected_mel = array(one, "mel");
    const auto frames = size_t(one.find("mel_frames_stored")->as_integer());
    for (size_t bin = 0; bin < model().bins; ++bin) {
      for (size_t t = 0; t < frames; ++t) {
        ASSERT_NEAR(mel[t * model().bins + bin], expected_mel[bin * frames + t], 1e-4);
      }
    }
    std::vector<float> encoded;
    ASSERT_TRUE(steps_->hear(mel, &encoded));
    constexpr size_t kEvery = 8;  // rows that were recorded
    const size_t hidden = engine_->compiled().facts.hidden;
    std::vector<float> some;
    for (size_t row = 0; row * hidden < encoded.size(); row += kEvery) {
      some.insert(some.end(), encoded.begin() + ptrdiff_t(row * hidden),
                  encoded.begin() + ptrdiff_t((row + 1) * hidden));
    }
    expect_rows(array(one, "encoder_output"), some);

    const auto after_start = steps_->feed({&tokens->start, 1});
    ASSERT_TRUE(after_start);
    EXPECT_EQ("<|" + tokens->language_of(*after_start) + "|>",
              one.find("language")->find("detected")->as_string());
    steps_->restart();
    const auto after_prefix =
        steps_->feed(ids_of(*one.find("runs")->find("no_timestamps")->find("prefix")));
    ASSERT_TRUE(after_prefix);
    expect_rows(floats_of(*one.find("prefix_last_logits")), *after_prefix);
    for (const bool timestamps : {false, true}) {
      const Json& run = *one.find("runs")->find(timestamps ? "timestamps" : "no_timestamps");
      const auto forbid = [&](std::span<const uint32_t> written, std::span<float> logits) {
        tokens->forbid(written, timestamps, logits);
      };
      EXPECT_EQ(greedy(ids_of(*run.find("prefix")), 24, tokens->end, forbid),
                ids_of(*run.find("ids")))
          << timestamps;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, DeviceSetup>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(, Moonshine,
                         testing::Combine(testing::Values("moonshine", "moonshine_streaming"),
                                          testing::ValuesIn(setups())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(, Whisper,
                         testing::Combine(testing::Values("whisper"), testing::ValuesIn(setups())),
                         name_of);

}  // namespace
}  // namespace tokamak::golden
