#include "report/bench/perplexity.h"

#include "apps/cli/measured_text.h"

namespace tokamak::cli {
namespace {

struct PerplexityFlags {
  ModelFlags model;
  MeasuredText text;
  bool json = false;
};

Result<void> run_perplexity(PerplexityFlags& flags) {
  TOK_TRY(flags.text.read());
  TOK_TRY(OpenOptions opening, flags.model.options());
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.text.open(std::move(opening)));
  when_interrupted(OnInterrupt::kStopSoon);
  std::optional<Waiting> waiting("reading the text");
  TOK_TRY(const TextWindows windows, flags.text.windows(*engine));
  waiting->say("the first window");
  TOK_TRY(const PerplexityReport report,
          measure_perplexity(*engine, windows, flags.text.options(*waiting, "perplexity")));
  waiting.reset();
  const Perplexity& found = report.perplexity;
  if (!flags.json) {
    return print(fmt::format("perplexity {:.4f} +/- {:.4f} over {} tokens in {} windows\n",
                             found.value(), found.error(), report.tokens, report.windows));
  }
  Json out;
  add_origin(out, *engine, flags.model.model());
  out.set("context", windows.size)
      .set("windows", uint64_t{report.windows})
      .set("tokens", uint64_t{report.tokens});
  out.set("perplexity", to_json(found));
  return print(out.dump() + "\n");
}

}  // namespace

void add_perplexity(App& app, Action& action) {
  App* command = app.add_subcommand("perplexity", "how well a model predicts a text");
  command->footer(
      R"(The text is cut into windows of --context tokens, each run from an empty cache; the first half of
a window is only read. The perplexity is exp of the mean negative log-likelihood of the rest, less
is better, and what stands after +/- is its standard error. llama-perplexity cuts the same way.
Examples:
  tokamak perplexity path/to/model wiki.test.raw
  tokamak perplexity path/to/model wiki.test.raw --windows 20       a first look
  tokamak perplexity path/to/model book.txt --context 2048 --json
  tokamak perplexity path/to/model wiki.test.raw --quantize q4 --kv q8
`tokamak compare` shows the difference of two models in more detail.)");
  auto flags = std::make_shared<PerplexityFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  flags->model.add_adapters(*command, /*several=*/false);
  flags->text.add(*command);
  command->add_flag("--json", flags->json,
                    "one JSON object: the perplexity and the mean loss, with their errors");
  command->callback([flags, &action] { action = [flags] { return run_perplexity(*flags); }; });
}

}  // namespace tokamak::cli
