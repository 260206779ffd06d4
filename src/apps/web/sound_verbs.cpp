// Recordings, and what is said in them; texts that are said.
#include <algorithm>

#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "audio/sound.h"
#include "engine/codec.h"
#include "formats/piecewise_source.h"
#include "speech/narrator.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak::web {

/// A codec on a device of its own, and what says texts with it.
struct Voice {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Codec> codec;
  std::unique_ptr<Narrator> narrator;
};

namespace {

constexpr uint64_t kPieceSamples = uint64_t{10} * kSampleRate;  // that are read at a time

void send_segment(uint32_t id, const Segment& segment) {
  Json what;
  what.set("id", id).set("start", segment.start).set("end", segment.end);
  tell("segment", what.set("text", segment.text));
}

void send_piece(uint32_t id, const std::string& text) {
  Json what;
  what.set("id", id).set("text", text);
  tell("piece", what);
}

/// Loads the weights and compiles the pipelines, which the first sound would wait for: one frame is
/// decoded.
Result<void> warm_up(Codec& codec) {
  Json what;
  what.set("phase", "warm-up").set("done", 0).set("total", 0);
  tell("progress", what);
  const std::vector<uint32_t> frame(codec.groups());
  TOK_TRY(codec.decode(frame));
  return {};
}

/// Opens a codec as Codec::open() does, of files that the page has.
Result<void> open_codec(const Opening& opening, const Engine& engine, const OpenOptions& options,
                        Voice& voice) {
  TOK_TRY(const ModelFiles files, read_files(opening));
  TOK_TRY(voice.backend, open_backend(options));
  const auto restore = [&voice, options](const Error& loss) -> Result<void> {
    TOK_TRY(std::unique_ptr<Backend> reopened, open_backend(options));
    if (reopened->device() != voice.backend->device()) return Failure(loss);
    voice.backend = std::move(reopened);
    return {};
  };
  TOK_TRY(voice.codec, Codec::make(files,
                                   {.backend = [&voice]() -> Backend& { return *voice.backend; },
                                    .restore = restore},
                                   {.target = engine.compiled().target,
                                    .disabled_passes = engine.compiled().disabled_passes,
                                    .forced = {},
                                    .advice = {}}));
  return {};
}

}  // namespace

/// {id, samples, language, translate, prompt, temperature, timestamps, fallback, format} ->
/// transcript_json(): what is said in a recording, `samples` 32-bit floats at 16 kHz, which the
/// page reads as the file `id`; with a format also as a `file` of it. Each part is an event
/// "segment" {id, start, end, text} as soon as it is there.
Result<Json> transcribe(State& state, const Json& options) {
  uint32_t id = 0;
  uint64_t samples = 0;
  std::optional<std::string> format;
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
              .take("format", format)
              .done());
  const auto known = transcript_format(format.value_or("json"));
  if (!known) {
    return fail(ErrorCode::kUsage, "\"format\" is \"{}\", expected text, json, srt or vtt.",
                *format);
  }
  const uint64_t most = uint64_t{SoundLimits().max_seconds} * kSampleRate;
  if (samples == 0 || samples > most) {
    return fail(ErrorCode::kUsage, "The recording has {} samples, expected 1 to {}.", samples,
                most);
  }
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(Transcriber* const transcriber, engine->transcriber());
  const auto segment = [id](const Segment& own) { send_segment(id, own); };
  TOK_TRY(transcriber->begin(how, {.segment = segment, .cancelled = cancelled}));
  const auto file = host_file("The recording", samples * sizeof(float), id);
  for (uint64_t at = 0; at < samples; at += kPieceSamples) {
    Samples piece(size_t(std::min(kPieceSamples, samples - at)));
    TOK_TRY(file->read(at * sizeof(float), std::as_writable_bytes(std::span(piece))));
    TOK_TRY(check_samples(piece, at));
    TOK_TRY(transcriber->add(piece));
  }
  TOK_TRY(const Transcript transcript, transcriber->finish());
  Json out = transcript_json(transcript);
  if (format) out.set("file", transcript_text(transcript, *known));
  return out;
}

/// {name, files} -> {rate}: the codec of the model that is open, which speaks: samples of a second.
/// It has been used once then, so that the first text is said as soon as the next.
Result<Json> codec(State& state, const Json& options) {
  TOK_TRY(const Opening opening, read_opening(options));
  TOK_TRY(Engine* const engine, open_engine(state));
  const std::optional<VoiceModel>& model = engine->compiled().voice;
  if (!model) {
    return unsupported("{} is a {}, which does not speak.", engine->files().name,
                       engine->compiled().facts.architecture);
  }
  TOK_TRY(const Tokenizer* const own, engine->tokenizer());
  state.voice.reset();
  const auto voice = std::make_shared<Voice>();
  TOK_TRY(open_codec(opening, *engine, state.options, *voice));
  Codec& found = *voice->codec;
  TOK_TRY(warm_up(found));
  const auto decode = [&found](std::span<const uint32_t> codes, uint32_t context) {
    return found.decode(codes, context);
  };
  TOK_TRY(voice->narrator, Narrator::make({.program = engine->program(),
                                           .model = *model,
                                           .tokenizer = *own,
                                           .codec = {.groups = found.groups(),
                                                     .codes = found.codes_per_group(),
                                                     .rate = found.sample_rate(),
                                                     .samples_per_frame = found.samples_per_frame(),
                                                     .context_frames = found.context_frames(),
                                                     .decode = decode}}));
  state.voice = voice;
  Json out;
  out.set("rate", found.sample_rate());
  return out;
}

/// {id, text, language, speaker, seed, temperature, first, last} -> {more, frames, pieces, cut}:
/// says some of a text, whose samples go to the page as those of the sound `id`; before those of a
/// piece comes an event "piece" {id, text}. Unless `more`, all that is known of the text is said.
/// It may come part by part: `first` is false after the first call, `last` where others follow.
Result<Json> speak(State& state, const Json& options) {
  uint32_t id = 0;
  std::string text;
  bool first = true, last = true;
  std::vector<double> speaker;
  NarrationOptions how;
  SamplingParams& sampling = how.frames.sampling;
  TOK_TRY(Fields(options)
              .take("id", id)
              .take("text", text)
              .take("language", how.language)
              .take("speaker", speaker)
              .take("seed", sampling.seed)
              .take("temperature", sampling.temperature)
              .take("first", first)
              .take("last", last)
              .done());
  TOK_TRY(const Engine* const engine, open_engine(state));
  if (state.voice == nullptr) {
    return fail(ErrorCode::kUsage, "{} was opened without a codec, so that it cannot speak.",
                engine->files().name);
  }
  how.speaker.assign(speaker.begin(), speaker.end());
  Narrator& narrator = *state.voice->narrator;
  if (first) TOK_TRY(narrator.begin(how));
  narrator.add(text);
  if (last) narrator.end_text();
  const Narration& said = narrator.narration();
  const uint32_t told = said.pieces;
  TOK_TRY(const auto samples, narrator.next(cancelled));
  const bool more = samples && !samples->empty();
  if (more) {
    if (said.pieces > told) send_piece(id, narrator.piece());
    play(id, *samples);
  }
  Json out;
  out.set("more", more).set("frames", said.frames).set("pieces", said.pieces).set("cut", said.cut);
  return out;
}

}  // namespace tokamak::web
