#include "report/bench.h"

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct BenchFlags {
  ModelFlags model;
  BenchOptions options;
  bool check = false, no_check = false, json = false;
};

constexpr uint32_t kDefaultContext = 4096;

Result<void> run(const BenchFlags& flags) {
  BenchOptions options = flags.options;
  if (flags.check && flags.no_check) {
    return fail(ErrorCode::kUsage, "--check and --no-check exclude each other.");
  }
  if (flags.check || flags.no_check) options.check = flags.check;
  if (options.prompt == 0 && options.generate == 0) {
    return fail(ErrorCode::kUsage, "-p 0 and -n 0 leave nothing to measure.");
  }
  TOK_TRY(OpenOptions open, flags.model.options());
  open.task = Task::kText;
  const uint32_t needed = options.depth + std::max(options.prompt, options.generate);
  const bool enlarged = open.context == 0 && needed > kDefaultContext;
  if (enlarged) open.context = needed;
  std::optional<Waiting> waiting(kLoading);
  tell_loading(open, *waiting);
  options.progress = [&](const std::string& doing) { waiting->say(doing); };
  const auto report = bench(open, options);
  waiting.reset();
  if (!report && enlarged && report.error().code == ErrorCode::kUsage) {
    return Failure(report.error().within(fmt::format("The tests need {} positions", needed)));
  }
  if (!report) return Failure(report.error());
  TOK_TRY(print(flags.json ? bench_json(*report).dump(1) + "\n" : bench_text(*report)));
  if (!report->correct()) {
    return fail(ErrorCode::kDevice, "The results on \"{}\" are wrong; see the check above.",
                report->device.name);
  }
  return {};
}

}  // namespace

void add_bench(App& app, Action& action) {
  App* command = app.add_subcommand("bench", "speed, memory and correctness of a model");
  command->footer(R"(Examples:
  tokamak bench                                   the built-in model on the best device
  tokamak bench path/to/model -p 2048 -n 256 -r 10
  tokamak bench path/to/model -p 0 -n 64 -d 4000  decoding far into a text
  tokamak bench path/to/model -p 4096 --chunk 1024 --kv f32   other steps and another cache
  tokamak bench path/to/model --json > bench.json
pp512 feeds 512 random tokens and waits for the logits; tg128 generates 128 tokens greedily, one at
a time. "of bandwidth" compares the bytes a token must move with what kernels that only copy or read
reach on the same device. With --sampled, a second test draws from the list of the best tokens that
the device makes, running ahead with what it guesses, and a third one from all logits.)");
  auto flags = std::make_shared<BenchFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  BenchOptions& options = flags->options;
  command->add_option("-p,--prompt", options.prompt, "tokens of the prompt test; 0: leave it out")
      ->check(Range(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-n,--generate", options.generate, "tokens to generate; 0: leave it out")
      ->check(Range(0, 1 << 24))
      ->capture_default_str();
  command->add_option("-r,--repetitions", options.repetitions, "runs after the one to warm up")
      ->check(Range(1, 1000))
      ->capture_default_str();
  command->add_option("-d,--depth", options.depth, "positions already taken when a test starts")
      ->check(Range(0, 1 << 24))
      ->capture_default_str();
  Option* sampled =
      command->add_flag("--sampled", options.sampled,
                        "generate by sampling, too: temperature 0.8, top-k 40, top-p 0.95");
  command
      ->add_option("--repetition-penalty", options.repetition_penalty,
                   "of what --sampled draws; above 1: less repetition")
      ->needs(sampled)
      ->capture_default_str();
  command->add_flag("--check", flags->check,
                    "compare with the CPU reference (default for weights below 64 MiB)");
  command->add_flag("--no-check", flags->no_check, "do not");
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace tokamak::cli
