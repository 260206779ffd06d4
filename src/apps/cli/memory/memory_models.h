// The models that `tokamak memory` runs: one for vectors, perhaps one that ranks, and the tokenizer
// of the one that will answer.
#pragma once
#include <memory>
#include <string>

#include "apps/cli/command.h"
#include "memory/embedder.h"
#include "memory/store.h"

namespace tokamak::cli {

struct OpenEmbedder {
  std::unique_ptr<Engine> engine;
  memory::Embedder embedder;  // of the engine
};

/// `options.model`: as find_model() takes it. Errors: a model without vectors or a tokenizer.
Result<OpenEmbedder> open_embedder(OpenOptions options, const std::string& pooling);

/// -m and where it runs, and --pooling: the model that makes vectors; without -m the store's.
class EmbedderFlags {
 public:
  void add(App& command);
  Result<OpenEmbedder> open(const memory::Store& store) const;
  const ModelFlags& model() const { return model_; }

 private:
  ModelFlags model_;
  std::string pooling_;
};

/// The model of a store with `flags`' device, for a command that has another model. Errors: a store
/// that has none yet.
Result<OpenEmbedder> open_stored_embedder(const memory::Store& store, const ModelFlags& flags);

/// The model with `flags`' device as a judge of hits. It lives as long as the function does.
Result<memory::Rerank> open_reranker(const std::string& model, const ModelFlags& flags);

/// Counts as the model will that gets the text.
Result<memory::CountTokens> token_counter(const std::string& model);

}  // namespace tokamak::cli
