// Models that speak against recorded answers: positions, logits with and without a speaker, the
// codes of whole sounds, and these.
#include <gtest/gtest.h>

#include <optional>

#include "engine/codec.h"
#include "golden/reference.h"
#include "speech/frame_writer.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/speech/";
/// The tolerance of samples, see codec_golden_test.cpp.
constexpr double kSamples = 1e-4;

std::vector<float> floats_or_none(const Json* json) {
  return json == nullptr || json->is_null() ? std::vector<float>() : floats_of(*json);
}

class VoiceGolden : public testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
 protected:
  void SetUp() override {
    require_device(setup());
    if (IsSkipped() || HasFatalFailure()) return;
    const std::string folder = kFolder + std::get<0>(GetParam());
    golden_ = read_json(folder + "/golden.json");
    auto arrays = open_safetensors_file(folder + "/golden.safetensors");
    ASSERT_TRUE(arrays) << arrays.error().message;
    arrays_ = *std::move(arrays);
    engine_ = open(folder, setup());
    ASSERT_NE(engine_, nullptr);
    ASSERT_TRUE(engine_->compiled().voice);
  }

  const DeviceSetup& setup() const { return std::get<1>(GetParam()); }
  const VoiceModel& model() const { return *engine_->compiled().voice; }
  const Json::Array& cases(const char* name) const { return golden_.find(name)->as_array(); }

  VoiceSteps steps() {
    auto steps = VoiceSteps::start(engine_->program(), model());
    EXPECT_TRUE(steps) << steps.error().message;
    return *std::move(steps);
  }

  std::vector<float> speaker_row(const Json& one) const {
    const std::vector<float> speaker = floats_or_none(one.find("speaker_emb"));
    if (speaker.empty()) return {};
    auto row = model().speaker_row(speaker);
    EXPECT_TRUE(row) << row.error().message;
    return *std::move(row);
  }
  /// The ids of a case, with that of its speaker after the first.
  std::vector<uint32_t> ids_with_speaker(const Json& one, const char* name) const {
    std::vector<uint32_t> ids = ids_of(*one.find(name));
    const bool has_speaker = !floats_or_none(one.find("speaker_emb")).empty();
    if (has_speaker) ids.insert(ids.begin() + 1, model().speaker_id());
    return ids;
  }

  Json golden_;
  TensorFile arrays_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(VoiceGolden, PlacesTokensAsRecorded) {
  bool has_half_steps = false;
  for (const Json& one : cases("positions")) {
    VoiceModel stepped = model();
    stepped.step = one.find("audio_step")->as_number();
    has_half_steps = has_half_steps || stepped.step == 0.5;
    FramePositions positions(stepped);
    std::vector<float> found;
    for (const uint32_t id : ids_of(*one.find("ids"))) found.push_back(positions.next(id));
    EXPECT_EQ(found, floats_of(*one.find("positions")));
  }
  EXPECT_TRUE(has_half_steps);
}

TEST_P(VoiceGolden, GivesTheRecordedLogits) {
  VoiceSteps steps = this->steps();
  for (const Json& one : cases("forward")) {
    const std::vector<uint32_t> ids = ids_with_speaker(one, "ids");
    const std::vector<float> positions = floats_of(*one.find("positions"));
    const std::vector<float> expected = floats_of(*one.find("logits_last"));
    ASSERT_TRUE(steps.begin(speaker_row(one)));
    const auto at_once = steps.feed(ids, positions);
    ASSERT_TRUE(at_once) << at_once.error().message;
    const double error = relative_error(expected, *at_once);
    EXPECT_LE(error, setup().tolerance);
    fmt::print("voice {} {}: within {:.1e}\n", std::get<0>(GetParam()), setup().name, error);

    ASSERT_TRUE(steps.begin(speaker_row(one)));
    const std::vector<uint32_t> best = ids_of(*one.find("argmax_per_position"));
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto logits = steps.feed({&ids[i], 1}, {&positions[i], 1});
      ASSERT_TRUE(logits) << logits.error().message;
      EXPECT_EQ(argmax(*logits), best[i]) << i;
      if (i + 1 < ids.size()) continue;
      EXPECT_LE(relative_error(expected, *logits), setup().tolerance);
    }
  }
}

TEST_P(VoiceGolden, ContinuesFreelyAsRecorded) {
  VoiceSteps steps = this->steps();
  for (const Json& one : cases("generate")) {
    ASSERT_TRUE(steps.begin(speaker_row(one)));
    std::vector<uint32_t> ids = ids_with_speaker(one, "prompt_ids");
    std::vector<float> positions = floats_of(*one.find("prompt_positions"));
    const std::vector<uint32_t> expected = ids_of(*one.find("free")->find("ids"));
    const std::vector<float> own = floats_of(*one.find("free")->find("positions"));
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto logits = steps.feed(ids, positions);
      ASSERT_TRUE(logits) << logits.error().message;
      ASSERT_EQ(argmax(*logits), expected[i]) << i;
      ids = {expected[i]};
      positions = {own[i]};
    }
  }
}

TEST_P(VoiceGolden, WritesTheRecordedFramesAndTheirSound) {
  const auto codec = engine_->codec(kFolder + "nanocodec");
  ASSERT_TRUE(codec) << codec.error().message;
  auto writer = FrameWriter::make(engine_->program(), model());
  ASSERT_TRUE(writer) << writer.error().message;
  for (const Json& one : cases("generate")) {
    const Json& framed = *one.find("framed");
    const std::vector<uint32_t> ids = ids_of(*framed.find("ids"));
    const bool ends = *framed.find("ended") == Json(true);
    const FrameOptions greedy = {.sampling = {.temperature = 0, .seed = {}},
                                 .max_tokens = uint32_t(ids.size()) + (ends ? model().groups : 0)};
    ASSERT_TRUE(writer->begin(ids_of(*one.find("text_ids")), speaker_row(one), greedy));
    std::vector<std::vector<uint32_t>> codes(model().groups);
    std::vector<uint32_t> frames;
    for (;;) {
      const auto frame = writer->next();
      ASSERT_TRUE(frame) << frame.error().message;
      if (!*frame) break;
      for (size_t i = 0; i < codes.size(); ++i) codes[i].push_back((**frame)[i]);
      frames.insert(frames.end(), (*frame)->begin(), (*frame)->end());
    }
    EXPECT_EQ(writer->is_cut(), !ends);
    const Json::Array& expected = one.find("codes")->as_array();
    ASSERT_EQ(codes.size(), expected.size());
    for (size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i], ids_of(expected[i]));
    const auto samples = (*codec)->decode(frames);
    ASSERT_TRUE(samples) << samples.error().message;
    const std::vector<float> sound = recorded(arrays_, one.find("waveform")->as_string());
    ASSERT_EQ(samples->size(), sound.size());
    for (size_t i = 0; i < sound.size(); ++i) ASSERT_NEAR((*samples)[i], sound[i], kSamples) << i;
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, DeviceSetup>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(, VoiceGolden,
                         testing::Combine(testing::Values("kani_tts2"),
                                          testing::ValuesIn(setups())),
                         name_of);

}  // namespace
}  // namespace tokamak::golden
