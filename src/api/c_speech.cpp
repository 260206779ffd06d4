#include "tokamak/c_speech.h"

#include "api/c_answers.h"

using namespace tokamak;

struct tokamak_transcribe_options {
  TranscribeOptions options;
  TranscribeCallbacks callbacks;
};

struct tokamak_transcript {
  Transcript transcript;
  std::string formatted;
};

struct tokamak_speak_options {
  SpeakOptions options;
};

struct tokamak_speech {
  Speech speech;
  std::string encoded;
};

namespace {

Result<tokamak_transcript*> transcribe(tokamak_model* model, std::span<const float> samples,
                                       const tokamak_transcribe_options* options) {
  const tokamak_transcribe_options plain;
  const auto& [own, callbacks] = options == nullptr ? plain : *options;
  TOK_TRY(Transcript transcript, model->model.transcribe(samples, own, callbacks));
  return new tokamak_transcript{std::move(transcript), {}};
}

}  // namespace

tokamak_transcribe_options* tokamak_transcribe_options_new(void) {
  return made<tokamak_transcribe_options>();
}

void tokamak_transcribe_options_free(tokamak_transcribe_options* options) {
  delete options;
}

bool tokamak_transcribe_options_set(tokamak_transcribe_options* options, const char* name,
                                    const char* value, tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

void tokamak_transcribe_options_on_step(tokamak_transcribe_options* options,
                                        tokamak_cancelled cancelled, void* user) {
  options->callbacks.cancelled = call_of(cancelled, user);
}

void tokamak_transcribe_options_on_segment(tokamak_transcribe_options* options,
                                           tokamak_segment segment, void* user) {
  options->callbacks.segment = nullptr;
  if (segment == nullptr) return;
  options->callbacks.segment = [=](const Segment& own) {
    segment(user, own.start, own.end, own.text.c_str());
  };
}

tokamak_transcript* tokamak_model_transcribe(tokamak_model* model, const void* file, size_t bytes,
                                             const tokamak_transcribe_options* options,
                                             tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_transcript*> {
    TOK_TRY(const std::vector<float> samples,
            decode_recording({static_cast<const std::byte*>(file), bytes}));
    return transcribe(model, samples, options);
  });
}

tokamak_transcript* tokamak_model_transcribe_samples(tokamak_model* model, const float* samples,
                                                     size_t count,
                                                     const tokamak_transcribe_options* options,
                                                     tokamak_error** error) {
  return value_or_error(error, [&] { return transcribe(model, {samples, count}, options); });
}

const char* tokamak_transcript_format(tokamak_transcript* transcript, const char* format,
                                      tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<const char*> {
    TOK_TRY(transcript->formatted,
            format_transcript(transcript->transcript, text_or_empty(format)));
    return transcript->formatted.c_str();
  });
}

void tokamak_transcript_free(tokamak_transcript* transcript) {
  delete transcript;
}

tokamak_speak_options* tokamak_speak_options_new(void) {
  return made<tokamak_speak_options>();
}

void tokamak_speak_options_free(tokamak_speak_options* options) {
  delete options;
}

bool tokamak_speak_options_set(tokamak_speak_options* options, const char* name, const char* value,
                               tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

bool tokamak_speak_options_set_speaker(tokamak_speak_options* options, const float* numbers,
                                       size_t count, tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    options->options.speaker.assign(numbers, numbers + count);
    return {};
  });
}

void tokamak_speak_options_on_step(tokamak_speak_options* options, tokamak_cancelled cancelled,
                                   void* user) {
  options->options.cancelled = call_of(cancelled, user);
}

void tokamak_speak_options_on_samples(tokamak_speak_options* options, tokamak_samples samples,
                                      void* user) {
  options->options.samples = nullptr;
  if (samples == nullptr) return;
  options->options.samples = [=](std::span<const float> more, uint32_t rate) {
    samples(user, more.data(), more.size(), rate);
  };
}

tokamak_speech* tokamak_model_speak(tokamak_model* model, const char* text,
                                    const tokamak_speak_options* options, tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_speech*> {
    TOK_TRY(Speech speech,
            model->model.speak(text_or_empty(text),
                               options == nullptr ? SpeakOptions() : options->options));
    return new tokamak_speech{std::move(speech), {}};
  });
}

const float* tokamak_speech_samples(const tokamak_speech* speech, size_t* count, uint32_t* rate) {
  *count = speech->speech.samples.size();
  *rate = speech->speech.rate;
  return speech->speech.samples.data();
}

const void* tokamak_speech_encode(tokamak_speech* speech, const char* format, size_t* bytes,
                                  tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<const void*> {
    TOK_TRY(speech->encoded, encode_speech(speech->speech, text_or_empty(format)));
    *bytes = speech->encoded.size();
    return speech->encoded.data();
  });
}

void tokamak_speech_free(tokamak_speech* speech) {
  delete speech;
}
