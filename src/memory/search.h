// Finds chunks by their words and by their vectors, and puts both orders together.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/embedder.h"
#include "memory/rank.h"
#include "memory/store.h"

namespace tokamak::memory {

enum class By : uint8_t { kBoth, kWords, kVectors };

struct SearchOptions {
  Filter filter;
  By by = By::kBoth;
  size_t most = 10;
  Rerank rerank;  // null: none; else it orders the first 20, and its scores count
};

struct Hit {
  StoredChunk chunk;  // without its vector
  double score = 0;   // of rank fusion, or the reranker's
  std::string source, title;
};

/// {id, chunk, score, source, title, start, stop, text}
Json to_json(const Hit& hit);

/// Returns the beginning of a text on one line, at most that many bytes of whole characters as
/// readers see them.
std::string snippet(std::string_view text, size_t bytes);

/// Whether vectors of the embedder belong into the store. Errors: the store has another model's, or
/// a rebuilding has not ended; they say what to do.
Result<void> check_model(const Store& store, const Embedder& embedder);
/// The same, where the embedder's fingerprint is known; false for a store without a model.
Result<bool> has_model(const Store& store, const Embedder& embedder,
                       std::span<const float> fingerprint);

/// For several questions: it keeps the vectors in memory until the store changes.
class Searcher {
 public:
  /// `embedder`: null for searches by words alone. Both must outlive the searcher.
  Searcher(const Store& store, const Embedder* embedder) : store_(store), embedder_(embedder) {}

  /// Best first. What has nearly the same words as a better hit is left out. Errors: as
  /// check_model(). REQUIRES: an embedder, or By::kWords.
  Result<std::vector<Hit>> search(std::string_view query, const SearchOptions& options);

 private:
  Result<std::vector<int64_t>> nearest(std::string_view query, const Filter& filter, size_t most);
  Result<std::vector<Hit>> without_copies(std::span<const Ranked> ranked, size_t most) const;
  Result<std::vector<std::string>> words_of(std::string_view query, By by) const;
  Result<void> refresh();

  const Store& store_;
  const Embedder* embedder_;
  std::vector<float> fingerprint_;
  VectorIndex vectors_;
  std::optional<int64_t> version_;  // of the store that vectors_ are from
};

}  // namespace tokamak::memory
