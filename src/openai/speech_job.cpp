#include "openai/speech_job.h"

#include "audio/encode.h"
#include "base/base64.h"
#include "speech/narrator.h"
#include "speech/speaker_file.h"

namespace tokamak::openai {
namespace {

/// Some minutes of sound: what is made before the client takes it stays small.
constexpr size_t kMaxInputBytes = 16384;
/// What the model's own voice is called where others have names.
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

Answer<SpeechRequest> read(const Fields& fields, const SpeechOptions& options, uint64_t seed) {
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
  sampling.seed = fields.seed && *fields.seed >= 0 ? uint64_t(*fields.seed) : seed;
  if (fields.temperature) sampling.temperature = *fields.temperature;
  return out;
}

class EngineSpeech final : public SpeechJob {
 public:
  EngineSpeech(Narrator& narrator, uint32_t tokens_per_frame, SpeechRequest request,
               std::unique_ptr<SoundEncoder> encoder, Sink sink)
      : narrator_(narrator),
        tokens_per_frame_(tokens_per_frame),
        request_(std::move(request)),
        encoder_(std::move(encoder)),
        sink_(std::move(sink)) {}

  bool step() override {
    const auto goes_on = next();
    if (goes_on && *goes_on) return true;
    if (!goes_on) fail(goes_on.error());
    sink_.end();
    return false;
  }

 private:
  Result<bool> next() {
    if (!std::exchange(has_started_, true)) {
      TOK_TRY(narrator_.begin(request_.options));
      narrator_.add(request_.text);
      narrator_.end_text();
    }
    TOK_TRY(const auto samples, narrator_.next());
    TOK_TRY(const std::string bytes, samples ? encoder_->add(*samples) : encoder_->finish());
    write(bytes);
    if (!samples && request_.is_events) {
      const auto tokens = int64_t(narrator_.narration().frames * tokens_per_frame_);
      event(Json(Json::Object{{"type", "speech.audio.done"},
                              {"usage", Json(Json::Object{{"output_tokens", tokens}})}}));
    }
    return samples.has_value();
  }

  void begin(int status, std::string_view type) {
    if (!std::exchange(has_head_, true)) sink_.begin(status, type);
  }
  void event(const Json& json) {
    begin(200, "text/event-stream; charset=utf-8");
    sink_.write(fmt::format("data: {}\n\n", json.dump()));
  }
  void write(const std::string& bytes) {
    if (bytes.empty()) return;
    if (!request_.is_events) {
      begin(200, content_type(request_.format));
      return sink_.write(bytes);
    }
    event(Json(Json::Object{{"type", "speech.audio.delta"},
                            {"audio", base64_of(std::as_bytes(std::span(bytes)))}}));
  }
  /// Before the sound it is an answer; within it, where there are no words for it, the end.
  void fail(const Error& error) {
    const Json body = api_error(error, "input").body(Dialect::kOpenAi);
    if (!has_head_) {
      begin(api_error(error).status, "application/json");
      sink_.write(body.dump());
    } else if (request_.is_events) {
      event(body);
    }
  }

  Narrator& narrator_;
  uint32_t tokens_per_frame_;
  SpeechRequest request_;
  std::unique_ptr<SoundEncoder> encoder_;
  Sink sink_;
  bool has_started_ = false, has_head_ = false;
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

Answer<std::unique_ptr<SpeechJob>> make_speech_job(Engine& engine, const SpeechOptions& options,
                                                   const Fields& fields, uint64_t seed, Sink sink) {
  TOK_TRY(SpeechRequest request, read(fields, options, seed));
  TOK_TRY(Narrator* const narrator, answer(engine.narrator(options.codec), "model"));
  if (!request.options.speaker.empty()) {
    TOK_TRY(answer(engine.compiled().voice->speaker_row(request.options.speaker), "voice"));
  }
  TOK_TRY(auto encoder,
          answer(SoundEncoder::make(request.format, narrator->rate(), true), "response_format"));
  return std::make_unique<EngineSpeech>(*narrator, engine.compiled().voice->groups,
                                        std::move(request), std::move(encoder), std::move(sink));
}

}  // namespace tokamak::openai
