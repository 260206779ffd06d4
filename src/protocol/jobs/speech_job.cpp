#include "protocol/jobs/speech_job.h"

#include "audio/encode.h"
#include "base/base64.h"
#include "engine/sound.h"
#include "protocol/jobs/model_use.h"
#include "speech/narrator.h"
#include "speech/speaker_file.h"

namespace tokamak::protocol {
namespace {

/// Some minutes of sound: what is made before the client takes it stays small.
constexpr size_t kMaxInputBytes = 16384;
/// The name of the model's own voice where others have names.
constexpr std::string_view kOwnVoice = "default";

struct SpeechRequest {
  std::string text;
  NarrationOptions options;
  SoundFileFormat format = SoundFileFormat::kMp3;
  bool is_events = false;
};

Answer<std::vector<float>> voice_of(const Json& voice, const SpeechOptions& options) {
  if (voice.is_array()) return answer(speaker_of(voice), "voice");
  // Names that were given to no voice are those of OpenAI's, which its clients must give.
  if (options.voices.empty()) return std::vector<float>();
  const Json* const id = voice.is_object() ? voice.find("id") : &voice;
  if (id == nullptr || !id->is_string()) return std::vector<float>();
  const auto found = options.voices.find(id->as_string());
  if (found != options.voices.end()) return found->second;
  if (id->as_string() == kOwnVoice) return std::vector<float>();
  std::string known(kOwnVoice);
  for (const auto& [name, numbers] : options.voices) known += ", " + name;
  return wrong("voice", "voice is {}, expected {}.", quoted(*id), known);
}

Answer<SpeechRequest> read(const Fields& fields, const SpeechOptions& options) {
  SpeechRequest out;
  if (!fields.input.is_string()) return wrong("input", "input is missing, expected a text.");
  out.text = fields.input.as_string();
  if (out.text.size() > kMaxInputBytes) {
    return wrong("input", "input has {} bytes, expected at most {}.", out.text.size(),
                 kMaxInputBytes);
  }
  TOK_TRY(out.options.speaker, voice_of(fields.voice, options));
  if (fields.response_format.is_string()) {
    const auto format = sound_file_format(fields.response_format.as_string());
    if (!format) {
      return wrong("response_format",
                   "response_format is {}, expected mp3, opus, flac, wav or pcm.",
                   quoted(fields.response_format));
    }
    out.format = *format;
  }
  if (fields.speed.value_or(1) != 1) {
    return wrong("speed", "speed is {}, but the model has one: 1.", *fields.speed);
  }
  const std::string stream = fields.stream_format.value_or("audio");
  if (stream != "audio" && stream != "sse") {
    return wrong("stream_format", "stream_format is {}, expected audio or sse.",
                 quoted(Json(stream)));
  }
  out.is_events = stream == "sse";
  out.options.language = fields.language.value_or("");
  SamplingParams& sampling = out.options.frames.sampling;
  if (fields.seed && *fields.seed >= 0) sampling.seed = uint64_t(*fields.seed);
  if (fields.temperature) sampling.temperature = *fields.temperature;
  return out;
}

class SpeechJob final : public Job {
 public:
  SpeechJob(Engine& engine, const std::string& codec, SpeechRequest request)
      : engine_(engine), codec_(codec), request_(std::move(request)) {}

  bool may_pause() const override { return narrator_ == nullptr || !narrator_->is_in_piece(); }

 private:
  Answer<bool> next() override {
    if (narrator_ == nullptr) TOK_TRY(open());
    TOK_TRY(const auto samples, answer(narrator_->next(cancelled()), "input"));
    TOK_TRY(const std::string bytes,
            answer(samples ? encoder_->add(*samples) : encoder_->finish()));
    if (!bytes.empty()) write_sound(bytes);
    if (!samples && request_.is_events) {
      const uint64_t tokens = narrator_->narration().frames * engine_.compiled().voice->groups;
      event(Json(Json::Object{{"type", "speech.audio.done"},
                              {"usage", Json(Json::Object{{"output_tokens", tokens}})}}));
    }
    return samples.has_value();
  }

  Answer<void> open() {
    TOK_TRY(auto narrator, answer(make_narrator(engine_, codec_), "model"));
    TOK_TRY(encoder_,
            answer(SoundEncoder::make(request_.format, narrator->rate(), true), "response_format"));
    auto& seed = request_.options.frames.sampling.seed;
    if (!seed) seed = random() >> 1;
    TOK_TRY(answer(narrator->begin(request_.options), "input"));
    narrator->add(request_.text);
    narrator->end_text();
    narrator_ = std::move(narrator);
    return {};
  }

  void write_sound(const std::string& bytes) {
    if (!request_.is_events) {
      begin(content_type(request_.format));
      return write(bytes);
    }
    event(Json(Json::Object{{"type", "speech.audio.delta"},
                            {"audio", base64_of(std::as_bytes(std::span(bytes)))}}));
  }

  Engine& engine_;
  const std::string& codec_;
  SpeechRequest request_;
  std::unique_ptr<SoundEncoder> encoder_;
  std::unique_ptr<Narrator> narrator_;  // null before the first step
};

}  // namespace

Result<void> open_speech(Engine& engine, const SpeechOptions& options) {
  if (!engine.compiled().voice) return {};
  TOK_TRY(engine.narrator(options.codec));
  for (const auto& [name, numbers] : options.voices) {
    const auto row = engine.compiled().voice->speaker_row(numbers);
    if (!row) return Failure(row.error().within("The voice " + name));
  }
  return {};
}

Json voices_json(const SpeechOptions& options) {
  Json::Array names = {Json(kOwnVoice)};
  for (const auto& [name, numbers] : options.voices) {
    if (name != kOwnVoice) names.emplace_back(name);
  }
  return Json(Json::Object{{"voices", std::move(names)}});
}

Answer<std::unique_ptr<Job>> make_speech_job(Engine& engine, const SpeechOptions& options,
                                             const Fields& fields) {
  TOK_TRY(SpeechRequest request, read(fields, options));
  TOK_TRY(check_use(engine, Task::kVoice));
  if (!request.options.speaker.empty()) {
    TOK_TRY(answer(engine.compiled().voice->speaker_row(request.options.speaker), "voice"));
  }
  return std::make_unique<SpeechJob>(engine, options.codec, std::move(request));
}

}  // namespace tokamak::protocol
