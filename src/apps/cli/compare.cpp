#include "apps/cli/measured_text.h"
#include "report/bench/comparison.h"

namespace tokamak::cli {
namespace {

struct CompareFlags {
  ModelFlags model;
  std::string a, b;
  MeasuredText text;
  bool json = false;
};

std::string shown(const CompareFlags& flags, const Comparison& found) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view figures) {
    text += fmt::format("{:<17} {}\n", name, figures);
  };
  line("A", flags.a);
  line("B", flags.b);
  line("perplexity of A", fmt::format("{:.4f} +/- {:.4f}", found.a.value(), found.a.error()));
  line("perplexity of B", fmt::format("{:.4f} +/- {:.4f}", found.b.value(), found.b.error()));
  line("B's by A's", fmt::format("{:.5f} +/- {:.5f}", found.ratio(), found.ratio_error()));
  line("KL(A || B)", fmt::format("{:.6f} +/- {:.6f}, below {:.6f} for 99 %, at most {:.6f}",
                                 found.divergence.mean, found.divergence.error, found.divergence_99,
                                 found.largest_divergence));
  line("same top token",
       fmt::format("{:.2f} % +/- {:.2f} %", 100 * found.same_top.mean, 100 * found.same_top.error));
  return text + fmt::format("over {} tokens in {} windows\n", found.tokens, found.windows);
}

Json as_json(const CompareFlags& flags, const Engine& a, const Engine& b, uint32_t context,
             const Comparison& found) {
  Json out, of_a, of_b;
  add_origin(of_a, a, flags.a);
  add_origin(of_b, b, flags.b);
  out.set("a", std::move(of_a.set("perplexity", to_json(found.a))));
  out.set("b", std::move(of_b.set("perplexity", to_json(found.b))));
  out.set("context", context)
      .set("windows", uint64_t{found.windows})
      .set("tokens", uint64_t{found.tokens});
  out.set("ratio", to_json(found.ratio(), found.ratio_error()));
  Json divergence = to_json(found.divergence.mean, found.divergence.error);
  divergence.set("quantile_99", found.divergence_99).set("largest", found.largest_divergence);
  out.set("divergence", std::move(divergence));
  out.set("same_top", to_json(found.same_top.mean, found.same_top.error));
  return out;
}

Result<void> run_compare(CompareFlags& flags) {
  TOK_TRY(flags.text.read());
  TOK_TRY(OpenOptions first, flags.model.options_of(flags.a));
  TOK_TRY(OpenOptions second, flags.model.options_of_second(flags.b));
  TOK_TRY(const std::unique_ptr<Engine> a, flags.text.open(std::move(first)));
  TOK_TRY(const TextWindows windows, flags.text.windows(*a));
  TOK_TRY(const std::unique_ptr<Engine> b, flags.text.open(std::move(second), windows.size));
  when_interrupted(OnInterrupt::kStopSoon);
  std::optional<Waiting> waiting("reading the text");
  TOK_TRY(check_same_tokens(*a, windows, *b, flags.text.text(), flags.text.file()));
  waiting->say("the first window");
  TOK_TRY(const Comparison found,
          compare_models(*a, *b, windows, flags.text.options(*waiting, "divergence")));
  waiting.reset();
  if (!flags.json) return print(shown(flags, found));
  return print(as_json(flags, *a, *b, windows.size, found).dump() + "\n");
}

}  // namespace

void add_compare(App& app, Action& action) {
  App* command =
      app.add_subcommand("compare", "how far a model's probabilities are from another's");
  command->footer(
      R"(Both run on the same windows of a text, cut as by `tokamak perplexity`. KL(A || B) is the
Kullback-Leibler divergence in nats: 0 where B gives every token the probability that A does. The
ratio of the perplexities has a smaller error than either, since both err alike on hard tokens.
A and B must have the same tokens, and both are in memory at once.
Examples:
  tokamak compare path/to/model path/to/model-Q4_K_M.gguf wiki.test.raw
  tokamak compare path/to/model path/to/model wiki.test.raw --quantize-b q4 --windows 20
  tokamak compare path/to/model path/to/model wiki.test.raw --kv f16 --kv-b q8 --json
  tokamak compare path/to/model path/to/model book.txt --backend-b cpu --windows 2)");
  auto flags = std::make_shared<CompareFlags>();
  const auto add_one = [&](const char* name, std::string& variable, const char* meaning) {
    command->add_option(name, variable, meaning)->required()->check(not_empty("a MODEL"));
  };
  add_one("A", flags->a, "the model to compare with, named as MODEL of other commands");
  add_one("B", flags->b, "another one, or the same with the options for B");
  flags->model.add(*command, ModelFlags::Model::kNone);
  flags->model.add_second(*command);
  flags->text.add(*command);
  command->add_flag("--json", flags->json, "one JSON object");
  command->callback([flags, &action] { action = [flags] { return run_compare(*flags); }; });
}

}  // namespace tokamak::cli
