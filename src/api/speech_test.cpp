#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "engine/engine.h"
#include "speech/narrator.h"
#include "speech/transcriber.h"
#include "tokamak/c_speech.h"
#include "tokamak/tokamak.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpeech = TOKAMAK_TEST_DATA "/speech/";

/// A recorded model with a tokenizer, in a folder that goes with it.
class ModelFolder {
 public:
  ModelFolder(const std::string& name, const Json& tokenizer)
      : path_(fs::temp_directory_path() /
              ("tokamak-api-" + name + "-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
    for (const auto& entry : fs::directory_iterator(kSpeech + name)) {
      fs::copy(entry.path(), path_ / entry.path().filename());
    }
    std::ofstream(path_ / "tokenizer.json") << tokenizer.dump();
  }
  ~ModelFolder() { fs::remove_all(path_); }

  ModelOptions options() const { return {.model = path_.string(), .backend = "cpu"}; }
  OpenOptions engine_options(Task task) const {
    OpenOptions own;
    own.model = path_.string();
    own.backend = "cpu";
    own.task = task;
    return own;
  }

 private:
  fs::path path_;
};

Json tokenizer_of(const std::function<std::string(uint32_t)>& word, uint32_t count, bool is_added,
                  Json pre_tokenizer, Json decoder) {
  Json vocab, model, tokenizer;
  Json::Array added;
  for (uint32_t id = 0; id < count; ++id) {
    vocab.set(word(id), id);
    if (!is_added) continue;
    Json one;
    one.set("id", id);
    one.set("content", word(id));
    for (const char* rule : {"special", "normalized", "lstrip", "rstrip", "single_word"}) {
      one.set(rule, false);
    }
    added.push_back(std::move(one));
  }
  model.set("type", "BPE");
  model.set("vocab", std::move(vocab));
  model.set("merges", Json::Array());
  tokenizer.set("added_tokens", std::move(added));
  tokenizer.set("pre_tokenizer", std::move(pre_tokenizer));
  tokenizer.set("decoder", std::move(decoder));
  tokenizer.set("normalizer", Json());
  tokenizer.set("post_processor", Json());
  tokenizer.set("model", std::move(model));
  return tokenizer;
}

/// A word for each id.
Json words(uint32_t count) {
  return tokenizer_of([](uint32_t id) { return fmt::format("<{}>", id); }, count, true, Json(),
                      Json());
}

/// A token for each letter.
Json letters() {
  const auto letter = [](uint32_t id) {
    if (id == 3) return std::string("\u0120");  // a space
    return id >= 33 && id < 127 ? std::string(1, char(id)) : fmt::format("<{}>", id);
  };
  Json bytes, decoder;
  bytes.set("type", "ByteLevel");
  bytes.set("add_prefix_space", false);
  bytes.set("use_regex", false);
  decoder.set("type", "ByteLevel");
  return tokenizer_of(letter, 690, false, std::move(bytes), std::move(decoder));
}

std::string file_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Model open(const ModelOptions& options) {
  auto model = Model::open(options);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

TEST(ModelSpeech, TranscribesAsAnEngineDoesAlone) {
  const ModelFolder folder("whisper", words(480));
  const std::string bytes = file_of(std::string(kSpeech) + "whisper/audio0.wav");
  const auto samples = decode_recording(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(samples) << samples.error().message;
  const TranscribeOptions options = {.language = "en", .fallback = false};

  const auto alone = Engine::open(folder.engine_options(Task::kSpeech));
  ASSERT_TRUE(alone) << alone.error().message;
  Transcriber& expected = **(*alone)->transcriber();
  ASSERT_TRUE(expected.begin(options, {}));
  ASSERT_TRUE(expected.add(*samples));
  const auto recorded = expected.finish();
  ASSERT_TRUE(recorded) << recorded.error().message;
  ASSERT_NE(recorded->text, "");

  Model model = open(folder.options());
  std::string live;
  const auto made = model.transcribe(
      *samples, options, {.segment = [&](const Segment& segment) { live += segment.text; }});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->text, recorded->text);
  EXPECT_EQ(made->segments.size(), recorded->segments.size());
  EXPECT_NE(live.find(made->segments.front().text), live.npos);
  EXPECT_EQ(*format_transcript(*made, "text"), made->text + "\n");
  EXPECT_EQ(format_transcript(*made, "doc").error().message,
            "A transcript is text, json, srt or vtt, and not \"doc\".");
  EXPECT_EQ(model.transcribe(*samples, {}, {.cancelled = [] { return true; }}).error().code,
            ErrorCode::kCancelled);
  EXPECT_EQ(model.start({.prompt = "a"}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(model.speak("a").error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(decode_recording({}));
  EXPECT_FALSE(model.transcribe(std::vector<float>{0.0f, NAN}));
}

TEST(ModelSpeech, SpeaksAsANarratorDoesAlone) {
  const ModelFolder folder("kani_tts2", letters());
  const std::string codec = std::string(kSpeech) + "nanocodec";
  const auto alone = Engine::open(folder.engine_options(Task::kVoice));
  ASSERT_TRUE(alone) << alone.error().message;
  const auto narrator = (*alone)->narrator(codec);
  ASSERT_TRUE(narrator) << narrator.error().message;
  NarrationOptions narration;
  narration.frames.max_tokens = 48;
  narration.frames.sampling.seed = 7;
  ASSERT_TRUE((*narrator)->begin(narration));
  (*narrator)->add("Hello");
  (*narrator)->end_text();
  std::vector<float> expected;
  while (const auto more = *(*narrator)->next()) {
    expected.insert(expected.end(), more->begin(), more->end());
  }
  ASSERT_FALSE(expected.empty());

  Model model = open(folder.options());
  const uint32_t own_rate = (*narrator)->rate();
  std::vector<float> live;
  const auto speech =
      model.speak("Hello", {.codec = codec,
                            .max_tokens = 48,
                            .seed = 7,
                            .samples = [&](std::span<const float> more, uint32_t rate) {
                              EXPECT_EQ(rate, own_rate);
                              live.insert(live.end(), more.begin(), more.end());
                            }});
  ASSERT_TRUE(speech) << speech.error().message;
  EXPECT_EQ(speech->samples, expected);
  EXPECT_EQ(live, expected);
  EXPECT_EQ(speech->rate, own_rate);
  EXPECT_EQ(speech->pieces, 1u);
  EXPECT_EQ(speech->seed, 7u);
  const auto file = encode_speech(*speech, "wav");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->size(), 44 + 2 * expected.size());
  EXPECT_EQ(encode_speech(*speech, "doc").error().code, ErrorCode::kUsage);
  EXPECT_FALSE(model.speak("", {.codec = codec}));
  EXPECT_EQ(model.speak("Hello", {.codec = codec, .cancelled = [] { return true; }}).error().code,
            ErrorCode::kCancelled);
}

TEST(CSpeech, TranscribesAndSpeaks) {
  const ModelFolder hears("moonshine", words(512)), speaks("kani_tts2", letters());
  const auto model_of = [](const ModelFolder& folder) {
    tokamak_options* options = tokamak_options_new();
    EXPECT_TRUE(tokamak_options_set(options, "model", folder.options().model.c_str(), nullptr));
    EXPECT_TRUE(tokamak_options_set(options, "backend", "cpu", nullptr));
    tokamak_model* model = tokamak_model_open(options, nullptr);
    tokamak_options_free(options);
    return model;
  };
  tokamak_model* ears = model_of(hears);
  ASSERT_NE(ears, nullptr);
  const std::string file = file_of(std::string(kSpeech) + "moonshine/audio0.wav");
  tokamak_transcribe_options* how = tokamak_transcribe_options_new();
  EXPECT_TRUE(tokamak_transcribe_options_set(how, "fallback", "false", nullptr));
  int segments = 0;
  tokamak_transcribe_options_on_segment(
      how, [](void* user, double, double, const char*) { ++*static_cast<int*>(user); }, &segments);
  tokamak_transcript* transcript =
      tokamak_model_transcribe(ears, file.data(), file.size(), how, nullptr);
  ASSERT_NE(transcript, nullptr);
  EXPECT_GT(segments, 0);
  EXPECT_NE(std::string(tokamak_transcript_format(transcript, "json", nullptr)).find("\"text\""),
            std::string::npos);
  tokamak_error* error = nullptr;
  EXPECT_EQ(tokamak_transcript_format(transcript, "doc", &error), nullptr);
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_USAGE);
  tokamak_error_free(error);
  tokamak_transcribe_options_on_step(how, [](void*) { return true; }, nullptr);
  EXPECT_EQ(tokamak_model_transcribe(ears, file.data(), file.size(), how, &error), nullptr);
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_CANCELLED);
  tokamak_error_free(error);
  error = nullptr;
  EXPECT_EQ(tokamak_model_transcribe(ears, "no sound", 8, nullptr, &error), nullptr);
  EXPECT_NE(error, nullptr);
  tokamak_error_free(error);
  tokamak_transcript_free(transcript);
  tokamak_transcribe_options_free(how);
  tokamak_model_free(ears);

  tokamak_model* mouth = model_of(speaks);
  ASSERT_NE(mouth, nullptr);
  tokamak_speak_options* voice = tokamak_speak_options_new();
  EXPECT_TRUE(tokamak_speak_options_set(voice, "codec",
                                        (std::string(kSpeech) + "nanocodec").c_str(), nullptr));
  EXPECT_TRUE(tokamak_speak_options_set(voice, "max_tokens", "24", nullptr));
  tokamak_speech* speech = tokamak_model_speak(mouth, "Hello", voice, nullptr);
  ASSERT_NE(speech, nullptr);
  size_t count = 0, bytes = 0;
  uint32_t rate = 0;
  EXPECT_NE(tokamak_speech_samples(speech, &count, &rate), nullptr);
  EXPECT_GT(count, 0u);
  EXPECT_GT(rate, 0u);
  EXPECT_NE(tokamak_speech_encode(speech, "pcm", &bytes, nullptr), nullptr);
  EXPECT_EQ(bytes, 2 * count);
  const float none[] = {1, 2};
  EXPECT_TRUE(tokamak_speak_options_set_speaker(voice, none, 2, nullptr));
  error = nullptr;
  EXPECT_EQ(tokamak_model_speak(mouth, "Hello", voice, &error), nullptr);
  EXPECT_NE(error, nullptr) << "a voice of two numbers";
  tokamak_error_free(error);
  tokamak_speech_free(speech);
  tokamak_speak_options_free(voice);
  tokamak_model_free(mouth);
}

}  // namespace
}  // namespace tokamak
