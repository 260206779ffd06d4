// A store of memories: one SQLite file with documents, their chunks, an index of their words and a
// vector for each chunk. Every call that writes leaves the file whole, whenever the program ends.
//
//   rule      pattern: what the user wants redacted
//   model     id, name, pooling, dimension, fingerprint: the newest one counts; documents of an
//             older one are those that a rebuilding has not come to yet
//   document  id, model, source, title, hash, added (seconds of 1970), meta (JSON)
//   chunk     id, document, start, stop (bytes of the document's text), tokens, text
//   vector    chunk, numbers (f16, little end first)
//   chunk_words   the full-text index (FTS5) of index_text(chunk.text)
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "memory/database.h"
#include "memory/filter.h"
#include "memory/vectors.h"

namespace tokamak::memory {

struct Model {
  std::string name, pooling;
  uint32_t dimension = 0;
  std::vector<float> fingerprint;  // of embedder.h
};

struct Document {
  int64_t id = 0;  // 0: the store gives one
  std::string source, title;
  int64_t added = 0;
  Json meta = Json(Json::Object());
  // Counted when read:
  uint64_t chunks = 0, bytes = 0;
};

struct StoredChunk {
  int64_t id = 0, document = 0;  // id 0: the store gives one
  uint64_t start = 0, stop = 0;
  uint32_t tokens = 0;
  std::string text;
  std::vector<uint16_t> vector;
};

class Store {
 public:
  /// Opens what exists. Errors: no such file, no store, a newer version.
  static Result<Store> open(const std::string& path, std::chrono::milliseconds wait = kWait);
  /// The same, and makes a file that only this user reads where there is none.
  static Result<Store> open_or_create(const std::string& path,
                                      std::chrono::milliseconds wait = kWait);

  const std::string& path() const { return database_->path(); }
  Result<Transaction> begin() const { return Transaction::begin(*database_); }
  /// Another number after every change.
  Result<int64_t> version() const { return database_->version(); }

  /// The newest; nothing in a store that never had a document.
  Result<std::optional<Model>> model() const;
  Result<void> add_model(const Model& model) const;
  /// Older ones; documents keep none of them alive. REQUIRES: outdated() is 0.
  Result<void> drop_old_models() const;
  /// How many documents have vectors of an older model.
  Result<uint64_t> outdated() const;
  /// The first document of an older model, by id.
  Result<std::optional<int64_t>> next_outdated() const;

  Result<std::vector<std::string>> rules() const;
  Result<void> add_rule(std::string_view pattern) const;

  /// By id.
  Result<std::vector<Document>> documents(const Filter& filter) const;
  Result<std::optional<int64_t>> find(std::string_view source, std::string_view text) const;
  /// All with that source. REQUIRES: not "".
  Result<std::vector<int64_t>> of_source(std::string_view source) const;
  Result<bool> has_document(int64_t id) const;
  /// Put together from its chunks.
  Result<std::string> text(int64_t document) const;
  /// Gives the id. REQUIRES: a transaction, a model.
  Result<int64_t> put(const Document& document, std::string_view text) const;
  /// Instead of the document's chunks, with vectors of the newest model; an id that is taken makes
  /// way for a new one. REQUIRES: as put(); the chunks are all of the document's text.
  Result<void> put_chunks(int64_t document, std::span<const StoredChunk> chunks) const;
  /// REQUIRES: a transaction.
  Result<void> remove(int64_t document) const;

  /// Deletes documents with all that was made of them, and then does erase_traces(). Gives how
  /// many.
  Result<uint64_t> forget(const Filter& filter) const;
  /// Leaves no byte of what was deleted in the file. Errors: another program has the store open.
  Result<void> erase_traces() const;

  /// By start.
  Result<std::vector<StoredChunk>> chunks(int64_t document, bool with_vectors) const;
  Result<StoredChunk> chunk(int64_t id) const;
  /// Ascending.
  Result<std::vector<int64_t>> chunk_ids(const Filter& filter) const;
  /// The words of a query but those that many chunks have.
  Result<std::vector<std::string>> rare_words(std::string_view query) const;
  /// Chunks by how well any of these words match them (BM25), best first. REQUIRES: words as
  /// distinct_words() gives them.
  Result<std::vector<int64_t>> match_words(std::span<const std::string> any, const Filter& filter,
                                           size_t most) const;
  Result<VectorIndex> vectors() const;

  /// SQLite's own check of the whole file, and that of the index of words.
  Result<void> check() const;

 private:
  explicit Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  static Result<Store> opened(const std::string& path, std::chrono::milliseconds wait,
                              bool may_be_new);
  Result<void> make_tables() const;
  /// Makes the index of words anew in a store of an older version.
  Result<void> index_again() const;
  Result<void> remove_chunks(int64_t document) const;

  std::unique_ptr<Database> database_;
};

}  // namespace tokamak::memory
