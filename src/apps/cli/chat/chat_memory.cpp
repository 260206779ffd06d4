#include "apps/cli/chat/chat_memory.h"

#include <filesystem>

#include "apps/cli/memory/memory_flags.h"
#include "apps/embedder.h"
#include "base/system/path_text.h"

namespace tokamak::cli {
namespace {

constexpr size_t kHits = 50;

/// The text of a message, which may have other parts, too; null where there is none.
Json* text_of(Json& message) {
  Json* content = message.find("content");
  if (content == nullptr || !content->is_array()) return content;
  for (Json& part : content->as_array()) {
    if (Json* text = part.find("text")) return text;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<ChatMemory>> ChatMemory::open(const std::string& path,
                                                     const ModelFlags& flags,
                                                     const Tokenizer& tokenizer, size_t budget) {
  TOK_TRY(memory::Store store, open_store(path == "default" ? "" : path));
  TOK_TRY(OpenEmbedder open, open_stored_embedder(store, flags));
  TOK_TRY(memory::check_model(store, open.embedder));
  return std::unique_ptr<ChatMemory>(
      new ChatMemory(std::move(store), std::move(open), tokenizer, budget));
}

Result<void> ChatMemory::put_before_last(Json& variables) {
  last_ = {};
  Json* text = text_of(variables.find("messages")->as_array().back());
  if (text == nullptr || !text->is_string()) return {};
  const std::string question = text->as_string();
  TOK_TRY(const auto hits, searcher_.search(question, {.most = kHits}));
  TOK_TRY(last_, memory::recall(hits, budget_, plain_counter(tokenizer_)));
  if (!last_.records.empty()) *text = last_.context + "\n" + question;
  return {};
}

std::string ChatMemory::sources() const {
  std::string names;
  for (const memory::Record& record : last_.records) {
    const std::string name =
        record.source.empty() ? record.title : tokamak::text_of(path_of(record.source).filename());
    if (names.find(name) == names.npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "" : fmt::format("[memory: {}]\n", names);
}

std::string ChatMemory::shown() const {
  if (last_.records.empty()) return "Nothing was taken from memory for the last message.\n";
  return fmt::format("{}[{} tokens of {}]\n", last_.context, last_.tokens, store_.path());
}

}  // namespace tokamak::cli
