#include "apps/cli/command.h"
#include "report/support/tune_report.h"

namespace tokamak::cli {
namespace {

struct TuneFlags {
  ModelFlags model;
  TuneOptions options;
  bool json = false;
};

Result<void> run_tune(const TuneFlags& flags) {
  TOK_TRY(OpenOptions open, flags.model.options());
  open.self_test_first = true;
  TuneOptions options = flags.options;
  std::optional<Waiting> waiting("opening the model");
  options.progress = [&](const std::string& doing) { waiting->say(doing); };
  const auto report = tune(open, options);
  waiting.reset();
  if (!report) return Failure(report.error());
  return print(flags.json ? tune_json(*report).dump(1) + "\n" : tune_text(*report));
}

}  // namespace

void add_tune(App& app, Action& action) {
  App* command = app.add_subcommand("tune", "find the fastest kernels for a model");
  command->footer(
      R"(Times every kernel that takes a step of the model, in the model's own steps, and keeps the
fastest for later runs on the same device with the same driver.
Examples:
  tokamak tune path/to/model
  tokamak tune path/to/model -d 4000 --context 8192     as it runs far into a text
  tokamak tune --json > tuned.json                      the built-in model, for programs
`tokamak inspect MODEL --plan` shows what was chosen and why; --no-tuned runs without it.)");
  auto flags = std::make_shared<TuneFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  TuneOptions& options = flags->options;
  command->add_option("-d,--depth", options.depth, "positions before the step that is timed")
      ->check(in_range(0, 1 << 24))
      ->capture_default_str();
  command
      ->add_option("-r,--repetitions,--rounds", options.rounds,
                   "runs of each kernel after one to warm up")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run_tune(*flags); }; });
}

}  // namespace tokamak::cli
