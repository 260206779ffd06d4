#include <chrono>
#include <cmath>

#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "apps/cli/service_sources.h"
#include "apps/cli/sound/sound_devices.h"
#include "apps/cli/speaker.h"
#include "audio/encode.h"
#include "speech/narrator.h"

namespace tokamak::cli {
namespace {

constexpr uint32_t kProbedRate = 48'000;  // which every loudspeaker takes

struct SpeakFlags {
  ModelFlags model;
  std::vector<std::string> words;
  std::string file, output, format, codec, voice;
  NarrationOptions options;
  uint64_t seed = 0;
  bool has_seed = false, json = false, stats = false;
};

Result<std::string> text_of(const SpeakFlags& flags) {
  const std::string text = fmt::format("{}", fmt::join(flags.words, " "));
  if (!text.empty()) return text;
  if (flags.file.empty() && stdin_is_terminal()) {
    return fail(ErrorCode::kUsage, "There is nothing to say; give a TEXT, or -f FILE.");
  }
  return read_text(flags.file);
}

/// The format of what is written. REQUIRES: an output.
Result<SoundFileFormat> format_of(const SpeakFlags& flags) {
  if (flags.output == "-" && stdout_is_terminal()) {
    return fail(ErrorCode::kUsage,
                "Sound is nothing for a terminal; write it to a file or a pipe.");
  }
  if (!flags.format.empty()) return *sound_file_format(flags.format);
  if (flags.output == "-") return SoundFileFormat::kWav;
  if (const auto format = sound_format_of_file(flags.output)) return *format;
  return fail(ErrorCode::kUsage,
              "What to write into \"{}\" does not follow from its name; end it with .wav, .flac, "
              ".opus, .mp3 or .pcm, or give --format.",
              flags.output);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The destination of the sound.
class Output {
 public:
  virtual ~Output() = default;
  virtual Result<void> add(std::span<const float> samples) = 0;
  /// Waits until all of it is written or played.
  virtual Result<void> finish() = 0;
};

class WrittenOutput final : public Output {
 public:
  WrittenOutput(std::string path, std::unique_ptr<SoundEncoder> encoder)
      : path_(std::move(path)), encoder_(std::move(encoder)) {}

  Result<void> add(std::span<const float> samples) override {
    TOK_TRY(const std::string bytes, encoder_->add(samples));
    return path_ == "-" ? print(bytes) : Result<void>();
  }
  Result<void> finish() override {
    TOK_TRY(const std::string bytes, encoder_->finish());
    return path_ == "-" ? print(bytes) : write_output(path_, bytes);
  }

 private:
  std::string path_;
  std::unique_ptr<SoundEncoder> encoder_;
};

class PlayedOutput final : public Output {
 public:
  explicit PlayedOutput(std::unique_ptr<Loudspeaker> loudspeaker)
      : loudspeaker_(std::move(loudspeaker)) {}

  Result<void> add(std::span<const float> samples) override {
    constexpr double kAheadSeconds = 60;  // a book that is read faster than it is said waits here
    loudspeaker_->add(samples);
    return loudspeaker_->wait(kAheadSeconds);
  }
  Result<void> finish() override { return loudspeaker_->wait(0); }

 private:
  std::unique_ptr<Loudspeaker> loudspeaker_;
};

/// `format`: of what is written; without one it is played.
Result<std::unique_ptr<Output>> open_output(const SpeakFlags& flags,
                                            std::optional<SoundFileFormat> format, uint32_t rate) {
  if (!format) {
    TOK_TRY(auto loudspeaker, open_loudspeaker(rate));
    return std::make_unique<PlayedOutput>(std::move(loudspeaker));
  }
  TOK_TRY(auto encoder, SoundEncoder::make(*format, rate, flags.output == "-"));
  return std::make_unique<WrittenOutput>(flags.output, std::move(encoder));
}

Result<void> say(const Engine& engine, Narrator& narrator, const SpeakFlags& flags,
                 const std::string& text, Output& output) {
  const double start = seconds_now();
  double first = 0, taken = 0;
  uint64_t samples = 0;
  const auto seconds = [&] { return double(samples) / narrator.rate(); };
  {
    Waiting waiting("speaking");
    TOK_TRY(narrator.begin(flags.options));
    narrator.add(text);
    narrator.end_text();
    for (;;) {
      TOK_TRY(const auto more, narrator.next(interrupted));
      if (!more) break;
      if (samples == 0) first = seconds_now() - start;
      samples += more->size();
      TOK_TRY(output.add(*more));
      waiting.say(fmt::format("speaking: {:.0f} s of sound", seconds()));
    }
    taken = seconds_now() - start;
    TOK_TRY(output.finish());
  }
  const uint64_t seed = *flags.options.frames.sampling.seed;
  if (flags.json) {
    const auto rounded = [](double value) { return std::round(value * 1e3) / 1e3; };
    Json out;
    out.set("text", text).set("output", flags.output.empty() ? "loudspeaker" : flags.output);
    out.set("seconds", rounded(seconds()));
    out.set("rate", uint64_t{narrator.rate()}).set("seed", seed);
    add_origin(out, engine, flags.model.model());
    out.set("timings", Json(Json::Object{{"first_seconds", rounded(first)},
                                         {"generate_seconds", rounded(taken)}}));
    TOK_TRY(print(out.dump() + "\n"));
  } else if (flags.stats || stderr_is_terminal()) {
    note(fmt::format(
        "{:.2f} s of sound in {:.2f} s ({:.2g} x real time), first after {:.2f} s (seed {})\n",
        seconds(), taken, taken > 0 ? seconds() / taken : 0.0, first, seed));
  }
  if (const uint32_t cut = narrator.narration().cut; cut > 0) {
    note(
        fmt::format("note: {} of {} pieces did not end before {} tokens and {} cut off; another "
                    "--seed may say {} better.\n",
                    cut, narrator.narration().pieces, flags.options.frames.max_tokens,
                    cut == 1 ? "was" : "were", cut == 1 ? "it" : "them"));
  }
  return {};
}

Result<void> speak(SpeakFlags flags) {
  if (flags.json && flags.output == "-") {
    return fail(ErrorCode::kUsage, "--json does not go with --output -, which is the sound.");
  }
  if (flags.output.empty() && !flags.format.empty()) {
    return fail(ErrorCode::kUsage,
                "--format is of a file, and without --output the loudspeaker gets the sound.");
  }
  std::optional<SoundFileFormat> format;
  if (!flags.output.empty()) {
    TOK_TRY(format, format_of(flags));
  }
  TOK_TRY(const std::string text, text_of(flags));
  TOK_TRY(flags.options.speaker, read_speaker_file(flags.voice));
  if (flags.output != "-") TOK_TRY(check_output(flags.output));
  // A loudspeaker that is missing shows before a model is loaded.
  if (flags.output.empty()) TOK_TRY(open_loudspeaker(kProbedRate));
  SamplingParams& sampling = flags.options.frames.sampling;
  sampling.seed = flags.has_seed ? flags.seed : random_numbers()() >> 1;
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(OpenOptions options, flags.model.options());
  options.task = Task::kVoice;
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(std::move(options)));
  TOK_TRY(Narrator* const narrator, engine->narrator(flags.codec));
  TOK_TRY(const std::unique_ptr<Output> output, open_output(flags, format, narrator->rate()));
  return say(*engine, *narrator, flags, text, *output);
}

}  // namespace

void add_speak(App& app, Action& action) {
  App* command = app.add_subcommand("speak", "say a text");
  command->footer(
      R"(MODEL must be one that speaks: Kani-TTS-2. The codec that makes sound of what it writes (NanoCodec)
lies in MODEL's folder or beside it, or --codec names it.
Examples:
  tokamak speak path/to/model "Good morning."
  tokamak speak path/to/model "Good morning." -o morning.wav
  tokamak speak path/to/model -f chapter.txt -o chapter.opus --seed 7
  tokamak speak path/to/model "Hello" --voice anna.json --codec nano-codec.nemo -o hello.flac
  make && echo "It is done." | tokamak speak path/to/model
  tokamak speak path/to/model "Hello" -o - | ssh kitchen aplay)");
  auto flags = std::make_shared<SpeakFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  Option* text = command->add_option("TEXT", flags->words,
                                     "what to say; without it --file, else standard input");
  command
      ->add_option("-f,--file", flags->file,
                   "a file or pipe that holds the text; - is standard input")
      ->type_name("FILE")
      ->excludes(text)
      ->check(not_empty("the path of a file, or -"));
  command
      ->add_option("-o,--output", flags->output,
                   "the file to write; -: standard output, while the sound is made; without it "
                   "the loudspeaker")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"));
  command
      ->add_option("--format", flags->format,
                   "wav, flac, opus (in Ogg), mp3 or pcm (16 bits); without it as the file's name "
                   "ends, for - wav")
      ->type_name("KIND")
      ->check(one_of({"wav", "flac", "opus", "mp3", "pcm"}));
  command->add_flag("--json", flags->json,
                    "one JSON object about the sound on standard output: seconds, seed, timings");
  command->add_flag("-v,--stats", flags->stats,
                    "length and speed on standard error, also into a pipe");
  command
      ->add_option("--codec", flags->codec,
                   "the codec: a folder, a .nemo file, or org/name of one that was fetched")
      ->type_name("PATH")
      ->check(not_empty("the path of a codec"));
  command
      ->add_option("--voice", flags->voice,
                   "who speaks: a file with the numbers that describe them, a JSON array or floats "
                   "of 32 bits; without it the model's own voice")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command
      ->add_option("-l,--language", flags->options.language,
                   "a tag of the model's, as en_us, for models that were made for several")
      ->type_name("TAG");
  command
      ->add_option("-n,--max-tokens", flags->options.frames.max_tokens,
                   "most tokens of what is said at once, a sentence or some: four for 80 ms")
      ->capture_default_str()
      ->check(in_range(4, 1 << 20));
  SamplingParams& sampling = flags->options.frames.sampling;
  const char* const group = "Sampling options";
  const auto add_number = [&](double SamplingParams::* number) {
    add_sampling_number(*command, number, sampling)->capture_default_str()->group(group);
  };
  add_number(&SamplingParams::temperature);
  command->add_option("--top-k", sampling.top_k, "only the k most probable; 0: all")
      ->capture_default_str()
      ->group(group);
  add_number(&SamplingParams::top_p);
  add_number(&SamplingParams::repetition_penalty);
  command->add_option("--seed", flags->seed, "same seed, same sound; default: a new one each time")
      ->check(in_range(int64_t{0}, INT64_MAX))
      ->group(group);
  command->callback([flags, command, &action] {
    flags->has_seed = command->count("--seed") > 0;
    action = [flags] { return speak(*flags); };
  });
}

}  // namespace tokamak::cli
