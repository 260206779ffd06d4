// Transcripts are the same however the sound comes, and where the device is lost in the middle, and
// so are the codes of what is said.
#include "audio/decode.h"
#include "formats/native_files.h"
#include "golden/reference.h"
#include "reliability/fragile_backend.h"
#include "speech/frame_writer.h"
#include "speech/transcriber.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/speech/";

/// Both recorded sounds, with a pause between them and one at the end.
Samples recording(const std::string& model) {
  Samples all;
  for (const char* name : {"audio0.wav", "audio1.wav"}) {
    const auto file = open_file(kFolder + model + "/" + name);
    EXPECT_TRUE(file);
    if (!file) continue;
    const auto bytes = (*file)->view(0, (*file)->size());
    EXPECT_TRUE(bytes);
    const auto samples = decode_sound({bytes->data(), bytes->size()});
    EXPECT_TRUE(samples);
    if (samples) all.insert(all.end(), samples->begin(), samples->end());
    all.resize(all.size() + kSampleRate / 2);
  }
  return all;
}

std::unique_ptr<Engine> open_fragile(const std::string& model, Fault& fault) {
  OpenOptions options;
  options.backend = "cpu";
  options.reopen = [=, &fault] { return FragileBackend::open(options, fault); };
  auto files = read_model_files(kFolder + model);
  auto backend = FragileBackend::open(options, fault);
  EXPECT_TRUE(files && backend);
  if (!files || !backend) return nullptr;
  auto engine = Engine::load(*std::move(files), *std::move(backend), options, steady_clock());
  EXPECT_TRUE(engine) << engine.error().message;
  return engine ? *std::move(engine) : nullptr;
}

/// The segments, of a sound that comes `step` samples at a time, as a text.
std::string transcript(Engine& engine, std::span<const float> sound, size_t step) {
  const auto all = [&]() -> Result<Transcript> {
    TOK_TRY(Transcriber* const transcriber, engine.transcriber());
    TOK_TRY(transcriber->begin({.fallback = false}, {}));
    for (; !sound.empty(); sound = sound.subspan(std::min(step, sound.size()))) {
      TOK_TRY(transcriber->add(sound.first(std::min(step, sound.size()))));
    }
    return transcriber->finish();
  }();
  EXPECT_TRUE(all) << all.error().message;
  std::string text;
  if (!all) return text;
  for (const Segment& segment : all->segments) {
    text += fmt::format("{:.2f}-{:.2f}:", segment.start, segment.end);
    for (const uint32_t id : segment.ids) text += fmt::format(" {}", id);
    text += "\n";
  }
  return text;
}

class Speech : public testing::TestWithParam<const char*> {};

TEST_P(Speech, IsTheSameHoweverTheSoundComes) {
  Fault fault;
  const auto engine = open_fragile(GetParam(), fault);
  ASSERT_NE(engine, nullptr);
  const Samples sound = recording(GetParam());
  const std::string whole = transcript(*engine, sound, sound.size());
  EXPECT_GT(std::ranges::count(whole, '\n'), 1) << whole;
  EXPECT_EQ(transcript(*engine, sound, 4000), whole);
  EXPECT_EQ(transcript(*engine, sound, 12345), whole) << "and a transcriber may begin again";
}

TEST_P(Speech, IsTheSameWhereTheDeviceIsLost) {
  Fault fault;
  const auto engine = open_fragile(GetParam(), fault);
  ASSERT_NE(engine, nullptr);
  const Samples sound = recording(GetParam());
  fault.count_from_here();
  const std::string whole = transcript(*engine, sound, sound.size());
  const uint32_t steps = fault.counted();
  ASSERT_GT(steps, 20u);
  for (const bool before : {false, true}) {
    for (uint32_t after = 0; after < steps; after += before ? 5 : 3) {
      Fault own;
      own.before_it_runs = before;
      const auto fragile = open_fragile(GetParam(), own);
      ASSERT_NE(fragile, nullptr);
      own.count_from_here();
      own.after_steps = after;
      EXPECT_EQ(transcript(*fragile, sound, sound.size()), whole) << after;
      EXPECT_EQ(own.losses, 1u) << after;
    }
  }
}

TEST_P(Speech, IsAnErrorWhereTheDeviceIsLostAgainAndAgain) {
  Fault fault;
  const auto engine = open_fragile(GetParam(), fault);
  ASSERT_NE(engine, nullptr);
  const auto transcriber = engine->transcriber();
  ASSERT_TRUE(transcriber);
  ASSERT_TRUE((*transcriber)->begin({}, {}));
  fault.count_from_here();
  fault.after_steps = 0;
  fault.times = UINT32_MAX;
  const auto added = [&]() -> Result<Transcript> {
    TOK_TRY((*transcriber)->add(recording(GetParam())));
    return (*transcriber)->finish();
  }();
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(added.error().message.find("3 times in a row"), std::string::npos);
}

TEST_P(Speech, EndsWhenItIsCancelled) {
  Fault fault;
  const auto engine = open_fragile(GetParam(), fault);
  ASSERT_NE(engine, nullptr);
  const auto transcriber = engine->transcriber();
  ASSERT_TRUE(transcriber);
  int asked = 0;
  ASSERT_TRUE((*transcriber)->begin({}, {.cancelled = [&] { return ++asked > 5; }}));
  const auto added = [&]() -> Result<Transcript> {
    TOK_TRY((*transcriber)->add(recording(GetParam())));
    return (*transcriber)->finish();
  }();
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(asked, 6);
}

/// The codes of a text, which a speaker says.
std::vector<uint32_t> spoken(Engine& engine) {
  std::vector<uint32_t> codes;
  const auto status = [&]() -> Result<void> {
    const VoiceModel& voice = *engine.compiled().voice;
    TOK_TRY(FrameWriter writer, FrameWriter::make(engine.program(), voice));
    TOK_TRY(std::vector<float> row,
            voice.speaker_row(std::vector<float>(voice.speaker_size, 0.25f)));
    const std::vector<uint32_t> text = {50, 60, 70};
    TOK_TRY(writer.begin(text, std::move(row), {.sampling = {.seed = 1}, .max_tokens = 16}));
    for (;;) {
      TOK_TRY(const auto frame, writer.next());
      if (!frame) return {};
      codes.insert(codes.end(), frame->begin(), frame->end());
    }
  }();
  EXPECT_TRUE(status) << status.error().message;
  return codes;
}

TEST(Voice, IsTheSameWhereTheDeviceIsLost) {
  Fault fault;
  const auto engine = open_fragile("kani_tts2", fault);
  ASSERT_NE(engine, nullptr);
  fault.count_from_here();
  const std::vector<uint32_t> whole = spoken(*engine);
  EXPECT_EQ(whole.size(), 8u);  // two frames, and the end
  const uint32_t steps = fault.counted();
  for (uint32_t after = 0; after < steps; ++after) {
    Fault own;
    const auto fragile = open_fragile("kani_tts2", own);
    ASSERT_NE(fragile, nullptr);
    own.count_from_here();
    own.after_steps = after;
    EXPECT_EQ(spoken(*fragile), whole) << after;
    EXPECT_EQ(own.losses, 1u) << after;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Speech,
                         testing::Values("moonshine", "moonshine_streaming", "whisper"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tokamak::golden
