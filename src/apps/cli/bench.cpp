#include "report/bench/bench.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "apps/cli/command.h"
#include "engine/memory.h"

namespace tokamak::cli {
namespace {

struct BenchFlags {
  ModelFlags model;
  BenchOptions options;
  std::vector<uint32_t> pairs;
  std::string output;
  bool check = false, no_check = false, json = false;
};

Result<BenchOptions> options_of(const BenchFlags& flags) {
  BenchOptions options = flags.options;
  if (flags.check || flags.no_check) options.check = flags.check;
  if (flags.pairs.size() % 2 != 0) {
    return fail(ErrorCode::kUsage, "--n-prompt-gen is \"{}\", expected pairs as in 512,128.",
                fmt::join(flags.pairs, ","));
  }
  for (size_t i = 0; i < flags.pairs.size(); i += 2) {
    options.prompts_and_generate.emplace_back(flags.pairs[i], flags.pairs[i + 1]);
  }
  options.bounds = flags.output.empty();
  if (options.image_side == 0 && tests_of(options).empty()) {
    return fail(ErrorCode::kUsage, "-p 0 and -n 0 leave nothing to measure.");
  }
  return options;
}

/// Options that say how much there is of something, and whose work has it.
struct WorkOption {
  const char* name;
  std::initializer_list<BenchKind> kinds;
};

const WorkOption kWorkOptions[] = {
    {"--n-prompt", {BenchKind::kText}},
    {"--n-gen", {BenchKind::kText}},
    {"--n-prompt-gen", {BenchKind::kText}},
    {"--n-depth", {BenchKind::kText}},
    {"--sequences", {BenchKind::kText}},
    {"--arriving", {BenchKind::kText}},
    {"--sampled", {BenchKind::kText}},
    {"--speculate", {BenchKind::kText}},
    {"--draft", {BenchKind::kText}},
    {"--image", {BenchKind::kImage}},
    {"--seconds", {BenchKind::kHears, BenchKind::kSpeaks, BenchKind::kCodec}},
    {"--heard-tokens", {BenchKind::kHears}},
    {"--codec", {BenchKind::kSpeaks}},
    {"--texts", {BenchKind::kTexts}},
    {"--text-tokens", {BenchKind::kTexts}},
};

/// Whether all that was given says something of this model's work.
Result<void> check_kind(const App& command, BenchKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {
      "a model that writes texts",    "--image", "a model that hears", "a model that speaks",
      "a model that embeds or ranks", "a codec"};
  for (const WorkOption& option : kWorkOptions) {
    if (command.count(option.name) == 0 || std::ranges::count(option.kinds, kind) > 0) continue;
    return fail(ErrorCode::kUsage, "{} does nothing with {}.", option.name, kNames[size_t(kind)]);
  }
  return {};
}

std::string shown(const BenchReport& report, const BenchFlags& flags) {
  if (flags.output == "md") return bench_markdown(report);
  if (flags.output == "csv") return bench_csv(report);
  if (flags.output == "json") return bench_list(report).dump(1) + "\n";
  return flags.json ? bench_json(report).dump(1) + "\n" : bench_text(report);
}

Result<void> run_bench(const BenchFlags& flags, const App& command) {
  TOK_TRY(BenchOptions options, options_of(flags));
  options.kind_found = [&](BenchKind kind) { return check_kind(command, kind); };
  TOK_TRY(OpenOptions open, flags.model.options());
  open.self_test_first = true;
  BenchTest most;
  if (options.image_side == 0) most = largest(tests_of(options));
  const bool enlarged = open.context == 0 && most.positions() > kDefaultContext;
  if (enlarged) open.context = uint32_t(most.positions());
  open.sequences = std::ranges::max(options.sequences);
  std::optional<Waiting> waiting(kLoading);
  show_loading(open, *waiting);
  options.progress = [&](const std::string& doing) { waiting->say(doing); };
  const auto report = bench(open, options);
  waiting.reset();
  if (!report && enlarged && report.error().code == ErrorCode::kUsage) {
    return Failure(
        report.error().within(fmt::format("{} needs {} positions", most.name(), most.positions())));
  }
  if (!report) return Failure(report.error());
  TOK_TRY(print(shown(*report, flags)));
  if (!report->correct()) {
    return fail(ErrorCode::kDevice, "The results on \"{}\" are wrong: {}.", report->device.name,
                check_text(*report));
  }
  return {};
}

constexpr const char* kFooter = R"(Examples:
  tokamak bench                                   the built-in model on the best device
  tokamak bench path/to/model -p 2048 -n 256 -r 10
  tokamak bench path/to/model -p 128,512 -n 0     prompts of two lengths, no generation
  tokamak bench path/to/model -p 0 -n 64 -d 0,4000   at the beginning and far into a text
  tokamak bench path/to/model -pg 512,128         a prompt and 128 tokens after it, as one test
  tokamak bench path/to/model -p 0 -d 512 --sequences 1,8,32,64   many conversations at once
  tokamak bench path/to/model -p 0 --sequences 32 --arriving 4000   beside a long prompt
  tokamak bench path/to/model -p 0 --draft path/to/small --speculate draft:4   with guesses
  tokamak bench path/to/model -o md               a table to compare with llama-bench's
  tokamak bench path/to/model -o csv > bench.csv
  tokamak bench path/to/model -p 4096 --chunk 1024 --kv f32   other steps and another cache
  tokamak bench path/to/model --json > bench.json
  tokamak bench path/to/model --image 1024        an image, a question and the first token
  tokamak bench path/to/whisper --seconds 30 --check   speech to 128 tokens
  tokamak bench path/to/voice --codec path/to/codec    a sentence, and its first sound
  tokamak bench path/to/codec --seconds 10        codes to sound, in pieces and at once
  tokamak bench path/to/encoder --texts 512 --text-tokens 128   vectors; of a cross-encoder, scores
pp512 feeds 512 random tokens and waits for the logits; tg128 generates 128 tokens greedily, one at
a time; "@ d4000" does so after 4000 others. Speeds are the mean and the standard deviation of -r
repetitions. "of bandwidth" compares the bytes a token must move with what kernels that only copy or
read reach on the same device. With --sampled, a second test draws from the list of the best tokens
that the device makes, running ahead with what it guesses, and a third one from all logits.
Of models that hear, speak, embed or rank other things are measured: noise, ids and pixels of fixed
seeds, and as much as is asked for, whatever the model makes of it. "x real time" is seconds of
sound in a second; "first" is how long somebody waits for it.)";

void add_tests_of_text(App& command, BenchFlags& flags) {
  BenchOptions& options = flags.options;
  const auto list = [&](const char* names, std::vector<uint32_t>& values, const char* meaning) {
    return command.add_option(names, values, meaning)
        ->type_name("N,...")
        ->delimiter(',')
        ->check(in_range(0, 1 << 24));
  };
  list("-p,--n-prompt,--prompt", options.prompts,
       "tokens of the prompt tests, one test for each number; 0: none")
      ->capture_default_str();
  list("-n,--n-gen,--generate", options.generate,
       "tokens to generate, one test for each number; 0: none")
      ->capture_default_str();
  list("-pg,--n-prompt-gen", flags.pairs,
       "a prompt and tokens to generate after it, measured together; repeatable")
      ->type_name("PP,TG");
  list("-d,--n-depth,--depth", options.depths,
       "positions already taken when a test starts; every test runs at each of them")
      ->capture_default_str();
  Option* sequences =
      command
          .add_option("--sequences", options.sequences,
                      "sequences that generate at once, one test for each number; 1: one alone")
          ->type_name("N,...")
          ->delimiter(',')
          ->check(in_range(1, kMaxSequences))
          ->capture_default_str();
  command
      .add_option("--arriving", options.arriving,
                  "a prompt of that many tokens arrives beside the sequences of such a test: the "
                  "time between their tokens meanwhile; 0: none")
      ->type_name("N")
      ->needs(sequences)
      ->check(in_range(0, 1 << 24));
  command.add_option("-r,--repetitions", options.repetitions, "runs after the one to warm up")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  Option* sampled =
      command.add_flag("--sampled", options.sampled,
                       "generate by sampling, too: temperature 0.8, top-k 40, top-p 0.95");
  command
      .add_option("--repeat-penalty,--repetition-penalty", options.repetition_penalty,
                  "of what --sampled draws; above 1: less repetition")
      ->needs(sampled)
      ->capture_default_str();
}

void add_other_work(App& command, BenchOptions& options) {
  command
      .add_option("--image", options.image_side,
                  "a model that sees: the way from an image of that many pixels a side to the "
                  "first token, instead of all tests of text")
      ->type_name("PIXELS")
      ->check(in_range(1, 8192));
  command
      .add_option("--seconds", options.seconds,
                  "of sound that is heard, or said at most; default: 30 heard, 10 said")
      ->type_name("S")
      ->check(in_range(0.1, 3600.0));
  command
      .add_option("--heard-tokens", options.heard_tokens, "tokens that are written of that sound")
      ->check(in_range(1, 1 << 16))
      ->capture_default_str();
  command
      .add_option("--codec", options.codec,
                  "of a model that speaks; default: that in its folder or beside it")
      ->type_name("PATH")
      ->check(not_empty("the path of a codec"));
  command.add_option("--texts", options.texts, "texts that are embedded, or pairs that are ranked")
      ->check(in_range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--text-tokens", options.text_tokens, "tokens of each of them")
      ->check(in_range(1, 1 << 20))
      ->capture_default_str();
}

void add_report(App& command, BenchFlags& flags) {
  Option* no_check = command.add_flag("--no-check", flags.no_check, "do not compare");
  command
      .add_flag("--check", flags.check,
                "compare with the reference (default for weights below 64 MiB)")
      ->excludes(no_check);
  command
      .add_option("--reference", flags.options.reference,
                  "what --check compares with: the CPU, which is slow, another backend, or of "
                  "--gpus 0,1 the first device alone")
      ->check(one_of({"cpu", "webgpu", "cuda"}))
      ->excludes(no_check)
      ->capture_default_str();
  Option* json = command.add_flag(
      "--json", flags.json, "one JSON object with everything: bounds, memory, loading, the check");
  command
      .add_option("-o,--output", flags.output,
                  "only the tests, in the form of llama-bench: md is a Markdown table, json a list "
                  "of objects with each repetition, csv the same as lines")
      ->type_name("FORM")
      ->check(one_of({"md", "json", "csv"}))
      ->excludes(json);
}

}  // namespace

void add_bench(App& app, Action& action) {
  App* command = app.add_subcommand("bench", "speed, memory and correctness of a model");
  command->footer(kFooter);
  auto flags = std::make_shared<BenchFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  flags->model.add_speculation(*command);
  add_tests_of_text(*command, *flags);
  add_other_work(*command, flags->options);
  add_report(*command, *flags);
  command->callback([flags, command, &action] {
    action = [flags, command] { return run_bench(*flags, *command); };
  });
}

}  // namespace tokamak::cli
