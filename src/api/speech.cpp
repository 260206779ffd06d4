// Recordings to transcripts and texts to sound.
#include "api/model_state.h"
#include "audio/decode.h"
#include "audio/encode.h"
#include "speech/narrator.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak {
namespace {

template <typename T>
void override_with(T& value, const auto& asked) {
  if (asked) value = *asked;
}

NarrationOptions narration_options(const SpeakOptions& asked, uint64_t seed) {
  NarrationOptions options;
  options.speaker = asked.speaker;
  options.language = asked.language;
  override_with(options.frames.max_tokens, asked.max_tokens);
  SamplingParams& sampling = options.frames.sampling;
  override_with(sampling.temperature, asked.temperature);
  override_with(sampling.top_k, asked.top_k);
  override_with(sampling.top_p, asked.top_p);
  override_with(sampling.repetition_penalty, asked.repetition_penalty);
  sampling.seed = seed;
  return options;
}

Result<Speech> narrate(Narrator& narrator, std::string_view text, const SpeakOptions& asked,
                       uint64_t seed) {
  TOK_TRY(narrator.begin(narration_options(asked, seed)));
  narrator.add(text);
  narrator.end_text();
  Speech speech = {.rate = narrator.rate(), .seed = seed};
  for (;;) {
    TOK_TRY(const auto more, narrator.next(asked.cancelled));
    if (!more) break;
    if (asked.samples && !more->empty()) asked.samples(*more, speech.rate);
    speech.samples.insert(speech.samples.end(), more->begin(), more->end());
  }
  speech.pieces = narrator.narration().pieces;
  speech.cut = narrator.narration().cut;
  return speech;
}

}  // namespace

Result<std::vector<float>> decode_recording(std::span<const std::byte> file) {
  if (file.empty()) return invalid_input("The recording is empty.");
  return decode_sound(file);
}

Result<std::string> format_transcript(const Transcript& transcript, std::string_view format) {
  if (const auto own = transcript_format(format)) return transcript_text(transcript, *own);
  return fail(ErrorCode::kUsage, "A transcript is text, json, srt or vtt, and not \"{}\".", format);
}

Result<std::string> encode_speech(const Speech& speech, std::string_view format) {
  const auto own = sound_file_format(format);
  if (!own) {
    return fail(ErrorCode::kUsage, "Speech is wav, flac, opus, mp3 or pcm, and not \"{}\".",
                format);
  }
  TOK_TRY(const auto encoder, SoundEncoder::make(*own, speech.rate, false));
  TOK_TRY(std::string file, encoder->add(speech.samples));
  TOK_TRY(const std::string rest, encoder->finish());
  return file + rest;
}

Result<Transcript> Model::transcribe(std::span<const float> samples,
                                     const TranscribeOptions& options,
                                     const TranscribeCallbacks& callbacks) {
  if (state_ == nullptr) return is_closed();
  TOK_TRY(check_samples(samples, 0));
  return run_and_wait<Transcript>(
      state_->loop->loop(), callbacks,
      [=](Engine& engine, const TranscribeCallbacks& own) -> Result<Transcript> {
        TOK_TRY(Transcriber* const transcriber, engine.transcriber());
        TOK_TRY(engine.tokenizer());
        TOK_TRY(transcriber->begin(options, own));
        TOK_TRY(transcriber->add(samples));
        return transcriber->finish();
      });
}

Result<Speech> Model::speak(std::string_view text, const SpeakOptions& options) {
  if (state_ == nullptr) return is_closed();
  const uint64_t seed = options.seed ? *options.seed : fresh_seed(state_->requests);
  return run_and_wait<Speech>(state_->loop->loop(), options,
                              [=](Engine& engine, const SpeakOptions& own) -> Result<Speech> {
                                TOK_TRY(Narrator* const narrator, engine.narrator(own.codec));
                                return narrate(*narrator, text, own, seed);
                              });
}

}  // namespace tokamak
