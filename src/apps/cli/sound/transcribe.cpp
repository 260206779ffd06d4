#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "apps/cli/sound/sound_line.h"
#include "audio/decode.h"
#include "base/ascii.h"
#include "speech/transcriber.h"
#include "speech/transcript_text.h"

namespace tokamak::cli {
namespace {

struct TranscribeFlags {
  ModelFlags model;
  std::vector<std::string> files;
  std::string format, output;
  TranscribeOptions options;
  RawSoundFlags raw;
  bool microphone = false, json = false, no_timestamps = false, no_fallback = false;
};

/// Decodes a file as far as it goes; a note says what is missing.
Result<Samples> decode_file(const std::string& name, std::span<const std::byte> bytes) {
  auto sound = decode_as_far_as_possible(bytes);
  if (!sound) return Failure(sound.error().within(name));
  if (!sound->missing.empty()) note(fmt::format("note: {}: {}\n", name, sound->missing));
  return std::move(sound->samples);
}

Result<Samples> read_sound(const std::string& path) {
  if (path == "-" || is_stream(path)) {
    TOK_TRY(const std::string bytes, read_input(path, kMaxSoundBytes));
    return decode_file(path == "-" ? "standard input" : path, std::as_bytes(std::span(bytes)));
  }
  TOK_TRY(const auto file, open_file(path));
  TOK_TRY(const FileBytes bytes, file->view(0, file->size()));
  return decode_file(path, {bytes.data(), bytes.size()});
}

/// The format that --format names, else that of the ending of --output, else text.
Result<TranscriptFormat> format_of(const TranscribeFlags& flags) {
  if (flags.json) return TranscriptFormat::kJson;
  if (flags.format.empty()) {
    const size_t dot = flags.output.find_last_of("./");
    const bool has_ending = dot != flags.output.npos && flags.output[dot] == '.';
    const auto by_ending =
        has_ending ? transcript_format(ascii_lower(flags.output.substr(dot + 1))) : std::nullopt;
    return by_ending.value_or(TranscriptFormat::kText);
  }
  if (const auto named = transcript_format(flags.format)) return *named;
  return fail(ErrorCode::kUsage, "--format is \"{}\", expected text, json, srt or vtt.",
              flags.format);
}

/// A recording's part of the output. `file`: its name, where it matters to readers.
std::string written(const Transcript& transcript, TranscriptFormat format, const std::string& file,
                    bool is_one) {
  if (format == TranscriptFormat::kJson) {
    Json json{Json::Object()};
    json.set("file", file);
    const Json all = transcript_json(transcript);
    for (const auto& [name, value] : all.as_object()) json.set(name, value);
    return json.dump() + "\n";
  }
  const bool is_named = format == TranscriptFormat::kText && !is_one;
  return (is_named ? file + ": " : "") + transcript_text(transcript, format);
}

/// The text for a person meanwhile: each segment as soon as it is there.
class LiveText {
 public:
  explicit LiveText(bool is_on) : is_on_(is_on) {}
  void add(const Segment& segment) {
    if (!is_on_ || !status_) return;
    const bool begins = !std::exchange(has_begun_, true);
    const size_t first = begins ? segment.text.find_first_not_of(' ') : 0;
    if (first != segment.text.npos) status_ = print(std::string_view(segment.text).substr(first));
  }
  const Result<void>& status() const { return status_; }

 private:
  bool is_on_, has_begun_ = false;
  Result<void> status_;
};

Result<Transcript> transcribe_one(Transcriber& transcriber, const TranscribeFlags& flags,
                                  Samples samples, LiveText& live) {
  auto waiting = std::make_unique<Waiting>("listening");
  const TranscribeCallbacks callbacks = {
      .segment =
          [&](const Segment& segment) {
            waiting.reset();
            live.add(segment);
          },
      .cancelled = [&] { return interrupted() || !live.status(); }};
  TOK_TRY(transcriber.begin(flags.options, callbacks));
  TOK_TRY(transcriber.add(std::move(samples)));
  return transcriber.finish();
}

/// Writes down the sound while it comes: also while something is computed, since pipes hold little,
/// and who writes into a full one loses sound. A Ctrl-C ends a microphone's sound, and what was
/// said before it is still written down.
Result<Transcript> transcribe_stream(Transcriber& transcriber, const TranscribeFlags& flags,
                                     const SoundSource& sound, LiveText& live) {
  const auto has_to_stop = [&] { return interrupted() && !flags.microphone; };
  Samples arrived;
  Result<void> status;
  const auto take = [&](bool waits) -> Result<void> {
    TOK_TRY(const Samples more, sound.read(waits));
    arrived.insert(arrived.end(), more.begin(), more.end());
    return {};
  };
  const TranscribeCallbacks callbacks = {
      .segment = [&](const Segment& segment) { live.add(segment); },
      .cancelled =
          [&] {
            if (status && !sound.has_ended()) status = take(false);
            return has_to_stop() || !status || !live.status();
          }};
  TOK_TRY(transcriber.begin(flags.options, callbacks));
  while (!has_to_stop() && !(sound.has_ended() && arrived.empty())) {
    if (arrived.empty()) TOK_TRY(take(true));
    const auto added = transcriber.add(std::exchange(arrived, {}));
    TOK_TRY(status);
    TOK_TRY(added);
  }
  return transcriber.finish();
}

Result<void> transcribe(TranscribeFlags flags) {
  if (!flags.microphone && flags.files.empty()) {
    return fail(ErrorCode::kUsage,
                "There is nothing to write down; give a FILE, - for standard input, or "
                "--microphone.");
  }
  if (flags.microphone) flags.files = {"microphone"};
  TOK_TRY(const TranscriptFormat format, format_of(flags));
  const bool is_one = flags.files.size() == 1;
  if (!is_one && (format == TranscriptFormat::kSrt || format == TranscriptFormat::kVtt)) {
    return fail(ErrorCode::kUsage, "Subtitles are of one recording; give one FILE.");
  }
  TOK_TRY(check_output(flags.output));
  flags.options.timestamps = !flags.no_timestamps;
  flags.options.fallback = !flags.no_fallback;
  // Whatever is wrong with a file shows before a model is loaded.
  std::vector<Samples> sounds;
  std::optional<SoundSource> stream;
  if (flags.microphone) {
    TOK_TRY(open_microphone());  // closed until the model can listen
    stream.emplace();
  } else if (!flags.raw.format.empty()) {
    if (flags.files != std::vector<std::string>{"-"}) {
      return fail(ErrorCode::kUsage,
                  "--input-format is for standard input, -, alone; a file says what it is.");
    }
    TOK_TRY(RawSound sound, RawSound::open(flags.raw));
    stream = source_of(std::move(sound));
  } else {
    for (const std::string& path : flags.files) {
      TOK_TRY(sounds.emplace_back(), read_sound(path));
    }
  }
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(OpenOptions options, flags.model.options());
  options.task = Task::kSpeech;
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(std::move(options)));
  TOK_TRY(engine->tokenizer());
  TOK_TRY(Transcriber* const transcriber, engine->transcriber());
  // A mistake in the options is one for all recordings.
  TOK_TRY(transcriber->begin(flags.options, {}));
  if (flags.microphone) {
    TOK_TRY(auto microphone, open_microphone());
    stream = source_of(std::move(microphone));
    when_interrupted(OnInterrupt::kStop);
    note("Speak; Ctrl-C ends it.\n");
  }
  std::string text;
  for (size_t i = 0; i < flags.files.size(); ++i) {
    const bool is_live = format == TranscriptFormat::kText && flags.output.empty();
    if (is_live && !is_one) TOK_TRY(print(fmt::format("{}: ", flags.files[i])));
    LiveText live(is_live);
    const auto transcript = stream
                                ? transcribe_stream(*transcriber, flags, *stream, live)
                                : transcribe_one(*transcriber, flags, std::move(sounds[i]), live);
    if (!transcript) {
      return Failure(stream ? transcript.error() : transcript.error().within(flags.files[i]));
    }
    TOK_TRY(live.status());
    if (is_live) {
      TOK_TRY(print("\n"));
    } else {
      text += written(*transcript, format, flags.files[i], is_one);
    }
  }
  if (flags.output.empty()) return print(text);
  return write_output(flags.output, text);
}

}  // namespace

void add_transcribe(App& app, Action& action) {
  App* command = app.add_subcommand("transcribe", "write down what is said in recordings");
  command->footer(
      R"(MODEL must be one that hears: Moonshine (English) or Whisper. Files are WAV, FLAC, Ogg (Vorbis,
Opus), MP3, AIFF, AU or CAF of any rate; - is standard input. Recordings may be two hours long.
Examples:
  tokamak transcribe openai/whisper-small talk.mp3
  tokamak transcribe path/to/model film.wav -o film.srt
  tokamak transcribe path/to/model interview.flac --language de --translate
  ffmpeg -i film.mkv -f wav - | tokamak transcribe path/to/model -
  tokamak transcribe path/to/moonshine --microphone
  ssh kitchen arecord -f S16_LE -r 16000 | tokamak transcribe path/to/model - --input-format s16le)");
  auto flags = std::make_shared<TranscribeFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  Option* files = command->add_option("FILE", flags->files, "recordings")
                      ->check(not_empty("the path of a file"));
  Option* microphone =
      command->add_flag("--microphone", flags->microphone,
                        "what the microphone hears until a Ctrl-C, written down while it comes");
  microphone->excludes(files);
  Option* format = command->add_option(
      "--format", flags->format,
      "text, json (with times and tokens), srt or vtt; without it, what the name of --output ends "
      "in, or text");
  format->type_name("KIND");
  command->add_flag("--json", flags->json, "the same as --format json")->excludes(format);
  command->add_option("-o,--output", flags->output, "a file to write instead of standard output")
      ->type_name("FILE");
  command->add_option(
      "-l,--language", flags->options.language,
      "what is spoken, as de, German or de-AT; auto, or without it: the model finds out "
      "(Whisper)");
  command->add_flag("--translate", flags->options.translate, "into English (Whisper)");
  command->add_option("-p,--prompt", flags->options.prompt,
                      "a text that the recording goes on from: names, spelling (Whisper)");
  command
      ->add_option("--temp,--temperature", flags->options.temperature,
                   "how freely words are chosen in the first attempt")
      ->capture_default_str()
      ->check(in_range(0.0, 1.0));
  command->add_option("--seed", flags->options.seed, "of what is chosen freely")
      ->capture_default_str();
  add_raw_sound_options(*command, flags->raw, "Samples without a header");
  for (const char* name : {"--rate", "--channels"}) {
    command->get_option(name)->needs(command->get_option("--input-format"));
  }
  command->add_flag("--no-timestamps", flags->no_timestamps,
                    "without times within a window of 30 seconds (Whisper)");
  command->add_flag("--no-fallback", flags->no_fallback,
                    "one attempt, also where the text looks wrong (Whisper)");
  command->callback([flags, &action] { action = [flags] { return transcribe(*flags); }; });
}

}  // namespace tokamak::cli
