// tokamak memory search, recall: what a store knows about a question.
#include "apps/cli/memory/memory_flags.h"
#include "apps/cli/memory/memory_models.h"
#include "base/wrap.h"
#include "memory/recall.h"

namespace tokamak::cli {
namespace {

constexpr size_t kShownBytes = 240;

/// The flags of both commands.
struct QuestionFlags {
  std::vector<std::string> words;
  std::string store, by = "both", reranker;
  FilterFlags filter;
  EmbedderFlags embedder;
  bool json = false;

  void add(App& command) {
    command.add_option("QUESTION", words, "in your own words; without it, standard input");
    command
        .add_option("--by", by,
                    "words (BM25), vectors (their cosine), or both; words needs no model")
        ->type_name("KIND")
        ->check(one_of({"both", "words", "vectors"}))
        ->capture_default_str();
    command
        .add_option("--rerank", reranker,
                    "a model that judges the first 20, such as BAAI/bge-reranker-v2-m3")
        ->type_name("MODEL");
    command.add_flag("--json", json, "JSON instead of text for people");
    filter.add(command);
    add_store(command, store);
    embedder.add(command);
  }
};

struct Found {
  std::optional<OpenEmbedder> open;  // none for words alone
  std::vector<memory::Hit> hits;
};

Result<Found> find(const QuestionFlags& flags, size_t most) {
  TOK_TRY(const std::string question, read_question(flags.words));
  memory::SearchOptions options{.filter = {}, .most = most, .rerank = nullptr};
  TOK_TRY(options.filter, flags.filter.filter());
  options.by = flags.by == "words"     ? memory::By::kWords
               : flags.by == "vectors" ? memory::By::kVectors
                                       : memory::By::kBoth;
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(const memory::Store store, open_store(flags.store));
  Found found;
  if (options.by != memory::By::kWords) {
    TOK_TRY(found.open, flags.embedder.open(store));
  }
  if (!flags.reranker.empty()) {
    TOK_TRY(options.rerank, open_reranker(flags.reranker, flags.embedder.model()));
  }
  memory::Searcher searcher(store, found.open ? &found.open->embedder : nullptr);
  const Waiting waiting("searching");
  TOK_TRY(found.hits, searcher.search(question, options));
  return found;
}

std::string name_of(const memory::Hit& hit) {
  return hit.source.empty() ? hit.title : hit.source;
}

std::string shown(const memory::Hit& hit, size_t number) {
  const std::string beginning = memory::snippet(hit.chunk.text, kShownBytes);
  std::string out =
      fmt::format("{}. {} (document {}, bytes {} to {}, score {:.4f})\n", number, name_of(hit),
                  hit.chunk.document, hit.chunk.start, hit.chunk.stop, hit.score);
  for (const std::string& line : wrapped(beginning, kScreenColumns - 3)) out += "   " + line + "\n";
  return out;
}

struct SearchFlags {
  QuestionFlags question;
  uint32_t top = 5;
};

Result<void> run_search(const SearchFlags& flags) {
  TOK_TRY(const Found found, find(flags.question, flags.top));
  for (size_t i = 0; i < found.hits.size(); ++i) {
    const memory::Hit& hit = found.hits[i];
    TOK_TRY(print(flags.question.json ? to_json(hit).dump() + "\n" : shown(hit, i + 1)));
  }
  if (found.hits.empty() && !flags.question.json) note("Nothing was found.\n");
  return {};
}

struct RecallFlags {
  QuestionFlags question;
  std::string answering;
  uint32_t budget = 1024;
};

Result<void> run_recall(const RecallFlags& flags) {
  memory::CountTokens count;
  if (!flags.answering.empty()) {
    TOK_TRY(count, token_counter(flags.answering));
  }
  constexpr size_t kHits = 50;
  TOK_TRY(const Found found, find(flags.question, kHits));
  if (!count && !found.open) {
    return fail(ErrorCode::kUsage,
                "--by words loads no model: --for MODEL says whose tokens count.");
  }
  TOK_TRY(const memory::Recalled recalled,
          memory::recall(found.hits, flags.budget, count ? count : found.open->embedder.count));
  if (flags.question.json) return print(memory::to_json(recalled).dump(1) + "\n");
  if (recalled.records.empty()) {
    note(found.hits.empty() ? "Nothing was found.\n"
                            : fmt::format("Nothing fits in {} tokens.\n", flags.budget));
  }
  return print(recalled.context);
}

}  // namespace

void add_memory_search(App& memory, Action& action) {
  App* command = memory.add_subcommand("search", "what is nearest to a question, best first");
  command->footer(
      R"(The order is that of words (BM25) and that of vectors (cosine) put together: 1/(60 + rank) of each.
Examples:
  tokamak memory search when do foxes sleep
  tokamak memory search "invoice 2026-113" --by words
  tokamak memory search holiday --source '*/letters/*' --since 365d --json)");
  auto flags = std::make_shared<SearchFlags>();
  command->add_option("--top", flags->top, "only the best N")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  flags->question.add(*command);
  command->callback([flags, &action] { action = [flags] { return run_search(*flags); }; });
}

void add_memory_recall(App& memory, Action& action) {
  App* command = memory.add_subcommand("recall", "passages for a prompt, with their sources");
  command->footer(
      R"(Passages with their sources, quoted line by line, within a budget of tokens, which the tokenizer of
the model counts that will read them. `tokamak chat --memory` does this for every message.
Examples:
  tokamak memory recall when do foxes sleep --budget 512 --for Qwen/Qwen3-0.6B
  tokamak memory recall "what did we decide" --json       {context, records, tokens})");
  auto flags = std::make_shared<RecallFlags>();
  command->add_option("--budget", flags->budget, "most tokens of the whole text")
      ->check(in_range(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--for", flags->answering,
                   "the model that will read it, whose tokens count; default: the embedding model")
      ->type_name("MODEL");
  flags->question.add(*command);
  command->callback([flags, &action] { action = [flags] { return run_recall(*flags); }; });
}

}  // namespace tokamak::cli
