// tokamak talk: a conversation by voice.
#include "apps/cli/chat/chat_template_choice.h"
#include "apps/cli/command.h"
#include "apps/cli/line/output_file.h"
#include "apps/cli/service_sources.h"
#include "apps/cli/sound/raw_sound.h"
#include "apps/cli/sound/talk_session.h"
#include "apps/cli/speaker.h"
#include "audio/decode.h"

namespace tokamak::cli {
namespace {

struct TalkFlags {
  ModelFlags model;
  SamplingFlags sampling;
  ThinkFlags think;
  std::string ears, mouth, codec, voice, system, chat_template, input, output, save;
  RawSoundFlags raw;
  TranscribeOptions hearing;
  NarrationOptions speaking;
  TalkOptions options;
  bool no_interruptions = false, has_raw_options = false;
};

/// The ends of the line, checked before there are models, so that a mistake shows at once.
struct Ends {
  SoundSource source;  // none: a microphone and a loudspeaker
  SoundFileFormat format = SoundFileFormat::kWav;
};

Result<SoundSource> open_input(const TalkFlags& flags) {
  if (flags.input != "-") {
    if (flags.has_raw_options) {
      return fail(ErrorCode::kUsage,
                  "--input-format, --rate and --channels are for `--input -`; a file says what it "
                  "is.");
    }
    TOK_TRY(const std::string bytes, read_input(flags.input, kMaxSoundBytes));
    auto samples = decode_sound(std::as_bytes(std::span(bytes)));
    if (!samples) return Failure(samples.error().within(flags.input));
    return source_of(*std::move(samples));
  }
  RawSoundFlags raw = flags.raw;
  if (raw.format.empty()) raw.format = "s16le";
  TOK_TRY(RawSound sound, RawSound::open(raw));
  return source_of(std::move(sound));
}

Result<Ends> open_ends(const TalkFlags& flags) {
  if (flags.input.empty() != flags.output.empty()) {
    return fail(ErrorCode::kUsage,
                "--input and --output go together; without both there are the microphone and the "
                "loudspeaker.");
  }
  if (flags.input.empty()) return Ends{};
  Ends ends;
  if (flags.output == "-") {
    if (stdout_is_terminal()) {
      return fail(ErrorCode::kUsage,
                  "Sound is nothing for a terminal; write it to a file or a pipe.");
    }
  } else if (const auto format = sound_format_of_file(flags.output)) {
    ends.format = *format;
    TOK_TRY(check_output(flags.output));
  } else {
    return fail(ErrorCode::kUsage,
                "What to write into \"{}\" does not follow from its name; end it with .wav, "
                ".flac, .opus, .mp3 or .pcm.",
                flags.output);
  }
  TOK_TRY(ends.source, open_input(flags));
  return ends;
}

/// The model that hears, or that speaks, on the same device.
Result<std::unique_ptr<Engine>> open_other(const TalkFlags& flags, const std::string& model,
                                           Task task) {
  TOK_TRY(OpenOptions options, flags.model.options_of(model));
  options.task = task;
  // These are the answering model's.
  options.context = 0;
  options.quantize.clear();
  options.adapters.clear();
  return ModelFlags::open(std::move(options));
}

Result<void> talk(TalkFlags flags) {
  TOK_TRY(TemplateChoice choice, choose_template(flags.chat_template));
  TOK_TRY(Ends ends, open_ends(flags));
  TOK_TRY(flags.speaking.speaker, read_speaker_file(flags.voice));
  TOK_TRY(check_output(flags.save));
  flags.options.may_interrupt = !flags.no_interruptions;

  TOK_TRY(OpenOptions options, flags.model.options());
  options.task = Task::kText;
  TOK_TRY(const auto chat, ModelFlags::open(std::move(options)));
  TOK_TRY(const Tokenizer* tokenizer, chat->tokenizer());
  TOK_TRY(find_own_template(flags.chat_template, chat->files(), choice));
  TOK_TRY(const GenerationParams defaults, chat->defaults());
  TOK_TRY(GenerationParams generation, flags.sampling.params(defaults));
  TOK_TRY(add_end(choice, *tokenizer, generation));
  TOK_TRY(const auto hears, open_other(flags, flags.ears, Task::kSpeech));
  TOK_TRY(hears->tokenizer());
  TOK_TRY(Transcriber* const ears, hears->transcriber());
  TOK_TRY(const auto speaks, open_other(flags, flags.mouth, Task::kVoice));
  TOK_TRY(Narrator* const mouth, speaks->narrator(flags.codec));
  flags.speaking.frames.sampling.seed = generation.sampling.seed.value_or(random_numbers()() >> 1);
  // An option that either model refuses shows before somebody speaks.
  TOK_TRY(ears->begin(flags.hearing, {}));
  TOK_TRY(mouth->begin(flags.speaking));

  const Reasoning reasoning(*chat, *tokenizer, choice.jinja);
  // Nobody hears reasoning: they would wait in silence.
  const Think think = flags.think.think() == Think::kDefault ? Think::kOff : flags.think.think();
  reasoning.adjust(generation, think, flags.sampling.is_limited());
  when_interrupted(OnInterrupt::kStop);
  const bool is_live = ends.source.read == nullptr;
  TOK_TRY(const auto line, is_live ? open_device_line(mouth->rate())
                                   : make_stream_line(std::move(ends.source), flags.output,
                                                      ends.format, mouth->rate()));
  if (is_live) note("Speak; Ctrl-C ends it.\n");
  const bool sound_on_stdout = flags.output == "-";
  TalkSession session({.chat = *chat,
                       .ears = *ears,
                       .mouth = *mouth,
                       .line = *line,
                       .reasoning = reasoning,
                       .think = think,
                       .template_variables = flags.think.variables(),
                       .generation = std::move(generation),
                       .hearing = flags.hearing,
                       .speaking = flags.speaking,
                       .options = flags.options,
                       .system = flags.system,
                       .show = [sound_on_stdout](std::string_view text) -> Result<void> {
                         if (!sound_on_stdout) return print(text);
                         note(text);
                         return {};
                       }});
  TOK_TRY(session.run());
  return flags.save.empty() ? Result<void>() : session.conversation().save(flags.save);
}

void add_sound_options(App& command, TalkFlags& flags) {
  constexpr const char* kGroup = "Sound";
  Option* input =
      command
          .add_option("--input", flags.input,
                      "a recording instead of the microphone: WAV, FLAC, Ogg or MP3; - is standard "
                      "input, samples without a header, as they come")
          ->type_name("FILE")
          ->check(not_empty("the path of a file, or -"))
          ->group(kGroup);
  command
      .add_option("--output", flags.output,
                  "a file instead of the loudspeaker, by its ending, as long as the input; - is "
                  "standard output, a WAV")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"))
      ->group(kGroup);
  add_raw_sound_options(command, flags.raw, kGroup);
  for (const char* name : {"--input-format", "--rate", "--channels"}) {
    command.get_option(name)->needs(input);
  }
  command
      .add_option("--pause", flags.options.endpoint.pause_seconds,
                  "seconds of silence after which you have said what you wanted to")
      ->capture_default_str()
      ->check(in_range(0.2, 5.0))
      ->group(kGroup);
  command
      .add_flag("--no-interruptions", flags.no_interruptions,
                "hear nothing during an answer: for loudspeakers that the microphone hears")
      ->group(kGroup);
}

}  // namespace

void add_talk(App& app, Action& action) {
  App* command = app.add_subcommand("talk", "talk to a model by voice");
  command->footer(
      R"(Three models: MODEL answers, --stt writes down what you say (Moonshine or Whisper), --tts says
the answer (Kani-TTS-2, with its codec). Speak while it speaks, and it stops; only what you have
heard of an answer stays in the conversation. With loudspeakers in the room: --no-interruptions. A
model that can reason does not, unless --think on or hide lets it; reasoning is never said.
Examples:
  tokamak talk path/to/model --stt path/to/moonshine --tts path/to/kani
  tokamak talk path/to/model --stt openai/whisper-small --language de --tts path/to/kani \
    --system "You are heard, not read: answer in a few plain sentences." --save talk.json
  tokamak talk --stt path/to/moonshine --tts path/to/kani --input asked.wav --output said.wav
  arecord -f S16_LE -r 16000 | tokamak talk ... --input - --output - | aplay)");
  auto flags = std::make_shared<TalkFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  command
      ->add_option("--stt,--ears", flags->ears,
                   "a model that hears: Moonshine (English) or Whisper")
      ->type_name("MODEL")
      ->required()
      ->check(not_empty("a MODEL"));
  command->add_option("--tts,--mouth", flags->mouth, "a model that speaks: Kani-TTS-2")
      ->type_name("MODEL")
      ->required()
      ->check(not_empty("a MODEL"));
  command
      ->add_option("--codec", flags->codec,
                   "the codec of --tts: a folder, a .nemo file, or org/name of one that was "
                   "fetched; default: the one in its folder or beside it")
      ->type_name("PATH")
      ->check(not_empty("the path of a codec"));
  command
      ->add_option("--voice", flags->voice,
                   "who speaks: a file with the numbers that describe them, as for `tokamak speak`")
      ->type_name("FILE")
      ->check(not_empty("the path of a file"));
  command->add_option("-l,--language", flags->hearing.language,
                      "what is spoken, as en or de; without it the model finds out (Whisper)");
  command->add_option("-sys,--system", flags->system, "what the model is told first");
  command
      ->add_option("--save", flags->save,
                   "a file for the conversation, as JSON: `tokamak chat` goes on with it by /load")
      ->type_name("FILE");
  command
      ->add_option("--max-piece", flags->speaking.frames.max_tokens,
                   "most tokens of what is said at once, a sentence or some: four for 80 ms")
      ->capture_default_str()
      ->check(in_range(4, 1 << 20));
  add_chat_template(*command, flags->chat_template);
  flags->think.add(*command, nullptr);
  add_sound_options(*command, *flags);
  flags->sampling.add(*command);
  command->get_option("--max-tokens")->default_val("512");
  command->callback([flags, command, &action] {
    for (const char* name : {"--input-format", "--rate", "--channels"}) {
      flags->has_raw_options = flags->has_raw_options || command->count(name) > 0;
    }
    action = [flags] { return talk(*flags); };
  });
}

}  // namespace tokamak::cli
