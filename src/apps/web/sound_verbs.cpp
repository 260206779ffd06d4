// Recordings, and what is said in them.
#include <algorithm>

#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "audio/sound.h"
#include "formats/piecewise_source.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak::web {
namespace {

constexpr uint64_t kPieceSamples = uint64_t{10} * kSampleRate;  // that are read at a time

void tell_segment(uint32_t id, const Segment& segment) {
  Json what;
  what.set("id", id).set("start", segment.start).set("end", segment.end);
  tell("segment", what.set("text", segment.text));
}

}  // namespace

/// {id, samples, language, translate, prompt, temperature, timestamps, fallback} ->
/// transcript_json(): what is said in a recording, `samples` 32-bit floats at 16 kHz, which the
/// page reads as the file `id`. Each part is an event "segment" {id, start, end, text}
/// as soon as it is there.
Result<Json> transcribe(State& state, const Json& options) {
  uint32_t id = 0;
  uint64_t samples = 0;
  TranscribeOptions how;
  TOK_TRY(Fields(options)
              .take("id", id)
              .take("samples", samples)
              .take("language", how.language)
              .take("translate", how.translate)
              .take("prompt", how.prompt)
              .take("temperature", how.temperature)
              .take("timestamps", how.timestamps)
              .take("fallback", how.fallback)
              .done());
  const uint64_t most = uint64_t{SoundLimits().max_seconds} * kSampleRate;
  if (samples == 0 || samples > most) {
    return fail(ErrorCode::kUsage, "The recording has {} samples, expected 1 to {}.", samples,
                most);
  }
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(Transcriber* const transcriber, engine->transcriber());
  const auto segment = [id](const Segment& own) { tell_segment(id, own); };
  TOK_TRY(transcriber->begin(how, {.segment = segment, .cancelled = cancelled}));
  const auto file = host_file("The recording", samples * sizeof(float), id);
  for (uint64_t at = 0; at < samples; at += kPieceSamples) {
    Samples piece(size_t(std::min(kPieceSamples, samples - at)));
    TOK_TRY(file->read(at * sizeof(float), std::as_writable_bytes(std::span(piece))));
    TOK_TRY(check_samples(piece, at));
    TOK_TRY(transcriber->add(piece));
  }
  TOK_TRY(const Transcript transcript, transcriber->finish());
  return transcript_json(transcript);
}

}  // namespace tokamak::web
