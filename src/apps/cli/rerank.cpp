#include "apps/cli/command.h"
#include "engine/requests/sort_by_score.h"

namespace tokamak::cli {
namespace {

struct RerankFlags {
  ModelFlags model;
  std::string query, instruction, file;
  std::vector<std::string> documents;
  uint32_t top = 0;
  bool json = false, no_truncate = false;
};

Result<std::vector<std::string>> read_documents(const RerankFlags& flags) {
  if (!flags.documents.empty()) return flags.documents;
  if (flags.file.empty() && stdin_is_terminal()) {
    note("One document per line, Ctrl-D at the end.\n");
  }
  TOK_TRY(const std::string all, read_text(flags.file));
  std::vector<std::string> documents;
  for (const std::string_view line : lines_of(all)) documents.emplace_back(line);
  if (documents.empty()) {
    return invalid_input("{} is empty, expected a document per line (or --document).",
                         flags.file.empty() ? "Standard input" : flags.file);
  }
  return documents;
}

Result<void> run_rerank(const RerankFlags& flags) {
  TOK_TRY(const std::vector<std::string> documents, read_documents(flags));
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(OpenOptions opening, flags.model.options());
  opening.task = Task::kRanking;
  TOK_TRY(const std::unique_ptr<Engine> engine, ModelFlags::open(std::move(opening)));
  if (!flags.instruction.empty() && engine->compiled().facts.score) {
    return fail(
        ErrorCode::kUsage,
        "--instruction does nothing with a cross-encoder, which is told nothing but the pair.");
  }
  const RerankOptions options{
      .instruction = flags.instruction, .truncate = !flags.no_truncate, .cancelled = interrupted};
  std::optional<Waiting> waiting("scoring");
  TOK_TRY(const std::vector<float> scores, engine->rerank(flags.query, documents, options));
  waiting.reset();
  const size_t most = flags.top != 0 ? flags.top : scores.size();
  for (const size_t i : sort_by_score(scores, most)) {
    if (flags.json) {
      Json json(Json::Object{{"index", uint64_t(i)}, {"score", to_json(scores[i])}});
      json.set("document", documents[i]);
      TOK_TRY(print(json.dump() + "\n"));
    } else {
      TOK_TRY(print(fmt::format("{:.6f}\t{}\t{}\n", scores[i], i, documents[i])));
    }
  }
  return {};
}

}  // namespace

void add_rerank(App& app, Action& action) {
  App* command = app.add_subcommand("rerank", "documents in the order of how they answer a query");
  command->footer(
      R"(Each document gives one line: its score, its number from 0, and its text, with tabs between
them; the best comes first. MODEL is a cross-encoder, such as bge-reranker or ms-marco-MiniLM,
or Qwen3-Reranker.
Examples:
  tokamak rerank path/to/model -q "when do foxes sleep" -d "They rest by day." -d "Owls hunt."
  tokamak rerank path/to/model -q "when do foxes sleep" --top 3 --json < documents.txt)");
  auto flags = std::make_shared<RerankFlags>();
  flags->model.add(*command, ModelFlags::Model::kRequired);
  command->extra_words("a document is given by -d TEXT");
  command->add_option("-q,--query", flags->query, "what the documents should answer")->required();
  Option* documents =
      command->add_option("-d,--document", flags->documents,
                          "a document (repeatable); without it, one per line of standard input");
  command
      ->add_option("-f,--file", flags->file,
                   "a file or pipe with a document per line; - is standard input")
      ->type_name("FILE")
      ->check(not_empty("the path of a file, or -"))
      ->excludes(documents);
  command->add_option("--top", flags->top, "only the best N")->check(in_range(1, 1 << 20));
  command
      ->add_option("--instruction", flags->instruction,
                   "what counts as an answer, for models that are told (Qwen3-Reranker)")
      ->type_name("TEXT");
  command->add_flag("--no-truncate", flags->no_truncate,
                    "an error for documents that are too long, instead of cutting them");
  command->add_flag("--json", flags->json, "one JSON object per document");
  command->callback([flags, &action] { action = [flags] { return run_rerank(*flags); }; });
}

}  // namespace tokamak::cli
