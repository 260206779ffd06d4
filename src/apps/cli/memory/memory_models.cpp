#include "apps/cli/memory/memory_models.h"

#include <filesystem>

#include "apps/embedder.h"
#include "base/system/path_text.h"

namespace tokamak::cli {
namespace {

/// A folder stays the same one wherever the next command is started.
std::string kept_name(const std::string& model) {
  std::error_code failed;
  const auto path = std::filesystem::canonical(path_of(model), failed);
  return failed ? model : text_of(path);
}

}  // namespace

Result<OpenEmbedder> open_embedder(OpenOptions options, const std::string& pooling) {
  OpenEmbedder out;
  std::string name = kept_name(options.model);
  options.task = Task::kEmbeddings;
  options.pooling = pooling;
  TOK_TRY(out.engine, ModelFlags::open(std::move(options)));
  TOK_TRY(out.embedder, embedder_of(*out.engine, std::move(name), pooling, interrupted));
  return out;
}

void EmbedderFlags::add(App& command) {
  model_.add(command, ModelFlags::Model::kByName);
  command.add_option("--pooling", pooling_, "mean, last or cls: for a model without modules.json")
      ->type_name("KIND")
      ->check(one_of({"mean", "last", "cls"}));
}

Result<OpenEmbedder> EmbedderFlags::open(const memory::Store& store) const {
  TOK_TRY(const std::optional<memory::Model> stored, store.model());
  const bool is_named = !model_.model().empty();
  if (!is_named && !stored) {
    return fail(ErrorCode::kUsage,
                "{} has no model yet: -m MODEL names the embedding model, such as "
                "google/embeddinggemma-300m or Qwen/Qwen3-Embedding-0.6B.",
                store.path());
  }
  TOK_TRY(OpenOptions options, model_.options_of(is_named ? model_.model() : stored->name));
  const bool is_stored = stored && kept_name(options.model) == stored->name;
  return open_embedder(std::move(options),
                       pooling_.empty() && is_stored ? stored->pooling : pooling_);
}

Result<OpenEmbedder> open_stored_embedder(const memory::Store& store, const ModelFlags& flags) {
  TOK_TRY(const std::optional<memory::Model> stored, store.model());
  if (!stored) {
    return invalid_input("{} has no documents yet; `tokamak memory add` adds some.", store.path());
  }
  TOK_TRY(OpenOptions options, flags.options_of(stored->name));
  // These are for the other model.
  options.context = 0;
  options.quantize = "";
  return open_embedder(std::move(options), stored->pooling);
}

Result<memory::Rerank> open_reranker(const std::string& model, const ModelFlags& flags) {
  TOK_TRY(OpenOptions options, flags.options_of(model));
  options.task = Task::kRanking;
  TOK_TRY(auto opened, ModelFlags::open(std::move(options)));
  const std::shared_ptr<Engine> engine = std::move(opened);
  return [engine](std::string_view query, std::span<const std::string> documents) {
    return engine->rerank(query, documents, {.instruction = "", .cancelled = interrupted});
  };
}

Result<memory::CountTokens> token_counter(const std::string& model) {
  TOK_TRY(const std::string path, find_or_fetch(model, false));
  TOK_TRY(const ModelFiles files, read_text_files(path));
  TOK_TRY(Tokenizer made, make_tokenizer(files));
  const auto tokenizer = std::make_shared<const Tokenizer>(std::move(made));
  return
      [tokenizer, count = plain_counter(*tokenizer)](std::string_view text) { return count(text); };
}

}  // namespace tokamak::cli
