// The documents of a store: written, put together again, deleted without a trace.
#include <algorithm>

#include "base/hash.h"
#include "memory/numbers.h"
#include "memory/store.h"
#include "memory/words.h"

namespace tokamak::memory {
namespace {

/// It only finds candidates: whether two texts are the same, the texts decide.
int64_t hash_of(std::string_view text) {
  return int64_t(hash_bytes(std::span(text)));
}

}  // namespace

Result<std::vector<Document>> Store::documents(const Filter& filter) const {
  TOK_TRY(Statement statement,
          database_->prepare("SELECT id, source, title, added, meta, "
                             "(SELECT count(*) FROM chunk WHERE document = document.id), "
                             "(SELECT max(stop) FROM chunk WHERE document = document.id) "
                             "FROM document WHERE " +
                             condition(filter) + " ORDER BY id"));
  bind(statement, filter);
  std::vector<Document> out;
  for (;;) {
    TOK_TRY(const bool continues, statement.step());
    if (!continues) return out;
    TOK_TRY(Json meta, Json::parse(statement.text(4)));
    out.push_back({.id = statement.integer(0),
                   .source = std::string(statement.text(1)),
                   .title = std::string(statement.text(2)),
                   .added = statement.integer(3),
                   .meta = std::move(meta),
                   .chunks = uint64_t(statement.integer(5)),
                   .bytes = uint64_t(statement.integer(6))});
  }
}

Result<std::optional<int64_t>> Store::find(std::string_view source, std::string_view text) const {
  TOK_TRY(Statement statement,
          database_->prepare("SELECT id FROM document WHERE hash = ? AND source = ?"));
  statement.bind(hash_of(text)).bind(source);
  TOK_TRY(const std::vector<int64_t> candidates, statement.integers());
  for (const int64_t id : candidates) {
    TOK_TRY(const std::string own, this->text(id));
    if (own == text) return id;
  }
  return std::nullopt;
}

Result<std::vector<int64_t>> Store::of_source(std::string_view source) const {
  TOK_TRY(Statement statement, database_->prepare("SELECT id FROM document WHERE source = ?"));
  statement.bind(source);
  return statement.integers();
}

Result<bool> Store::has_document(int64_t id) const {
  TOK_TRY(Statement statement, database_->prepare("SELECT 1 FROM document WHERE id = ?"));
  return statement.bind(id).step();
}

Result<std::string> Store::text(int64_t document) const {
  TOK_TRY(const std::vector<StoredChunk> parts, chunks(document, false));
  std::string out;
  for (const StoredChunk& part : parts) {
    if (part.start > out.size()) {
      return invalid_input("{} is damaged: a part of document {} is missing.", path(), document);
    }
    out.resize(size_t(part.start));
    out += part.text;
  }
  return out;
}

Result<int64_t> Store::put(const Document& document, std::string_view text) const {
  TOK_TRY(Statement statement,
          database_->prepare("INSERT INTO document (id, model, source, title, hash, added, meta) "
                             "VALUES (nullif(?, 0), (SELECT max(id) FROM model), ?, ?, ?, ?, ?)"));
  statement.bind(document.id);
  statement.bind(std::string_view(document.source)).bind(std::string_view(document.title));
  statement.bind(hash_of(text)).bind(document.added);
  statement.bind(std::string_view(document.meta.dump()));
  TOK_TRY(statement.run());
  return database_->last_id();
}

Result<void> Store::put_chunks(int64_t document, std::span<const StoredChunk> chunks) const {
  TOK_TRY(remove_chunks(document));
  TOK_TRY(Statement chunk,
          database_->prepare("INSERT INTO chunk (id, document, start, stop, tokens, text) VALUES "
                             "((SELECT ?1 WHERE ?1 > 0 AND NOT EXISTS "
                             "(SELECT 1 FROM chunk WHERE id = ?1)), ?2, ?3, ?4, ?5, ?6)"));
  TOK_TRY(Statement words,
          database_->prepare("INSERT INTO chunk_words (rowid, text) VALUES (?, ?)"));
  TOK_TRY(Statement vector,
          database_->prepare("INSERT INTO vector (chunk, numbers) VALUES (?, ?)"));
  for (const StoredChunk& one : chunks) {
    chunk.bind(one.id).bind(document).bind(int64_t(one.start)).bind(int64_t(one.stop));
    TOK_TRY(chunk.bind(int64_t{one.tokens}).bind(std::string_view(one.text)).run());
    const int64_t id = database_->last_id();
    const std::string indexed = index_text(one.text);
    TOK_TRY(words.bind(id).bind(std::string_view(indexed)).run());
    TOK_TRY(vector.bind(id).bind(std::as_bytes(std::span(one.vector))).run());
  }
  TOK_TRY(Statement model, database_->prepare("UPDATE document SET model = "
                                              "(SELECT max(id) FROM model) WHERE id = ?"));
  return model.bind(document).run();
}

Result<void> Store::remove_chunks(int64_t document) const {
  // The index of words is given the text that it has to forget, and comes first.
  TOK_TRY(Statement words, database_->prepare("INSERT INTO chunk_words (chunk_words, rowid, text) "
                                              "VALUES ('delete', ?, ?)"));
  TOK_TRY(const std::vector<StoredChunk> old, chunks(document, false));
  for (const StoredChunk& one : old) {
    const std::string indexed = index_text(one.text);
    TOK_TRY(words.bind(one.id).bind(std::string_view(indexed)).run());
  }
  for (const char* sql :
       {"DELETE FROM vector WHERE chunk IN (SELECT id FROM chunk WHERE document = ?)",
        "DELETE FROM chunk WHERE document = ?"}) {
    TOK_TRY(Statement statement, database_->prepare(sql));
    TOK_TRY(statement.bind(document).run());
  }
  return {};
}

Result<void> Store::remove(int64_t document) const {
  TOK_TRY(remove_chunks(document));
  TOK_TRY(Statement statement, database_->prepare("DELETE FROM document WHERE id = ?"));
  return statement.bind(document).run();
}

Result<uint64_t> Store::forget(const Filter& filter) const {
  TOK_TRY(Transaction transaction, begin());
  TOK_TRY(const std::vector<Document> found, documents(filter));
  for (const Document& document : found) TOK_TRY(remove(document.id));
  TOK_TRY(transaction.commit());
  TOK_TRY(erase_traces());
  return found.size();
}

Result<void> Store::erase_traces() const {
  // FTS5 keeps words of deleted rows until its segments are merged; tables keep copies of rows in
  // pages that were divided, until the file is written anew; the log keeps old pages.
  TOK_TRY(database_->run("INSERT INTO chunk_words (chunk_words) VALUES ('optimize')"));
  const auto status = database_->run("VACUUM");
  TOK_TRY(Statement statement, database_->prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  TOK_TRY(statement.step());
  const bool is_busy = statement.integer(0) != 0;
  TOK_TRY(statement.run());
  if (status && !is_busy) return {};
  if (!is_busy) return status;
  return invalid_input(
      "What was deleted is found no more, but traces of it are in {} as long as another program "
      "has it open. End that, and run the same command again.",
      path());
}

Result<std::vector<StoredChunk>> Store::chunks(int64_t document, bool with_vectors) const {
  const char* sql = with_vectors
                        ? "SELECT id, start, stop, tokens, text, numbers FROM chunk "
                          "JOIN vector ON vector.chunk = chunk.id WHERE document = ? ORDER BY start"
                        : "SELECT id, start, stop, tokens, text, NULL FROM chunk "
                          "WHERE document = ? ORDER BY start";
  TOK_TRY(Statement statement, database_->prepare(sql));
  statement.bind(document);
  std::vector<StoredChunk> out;
  for (;;) {
    TOK_TRY(const bool continues, statement.step());
    if (!continues) return out;
    out.push_back({.id = statement.integer(0),
                   .document = document,
                   .start = uint64_t(statement.integer(1)),
                   .stop = uint64_t(statement.integer(2)),
                   .tokens = uint32_t(statement.integer(3)),
                   .text = std::string(statement.text(4)),
                   .vector = numbers_of<uint16_t>(statement.bytes(5))});
  }
}

Result<StoredChunk> Store::chunk(int64_t id) const {
  TOK_TRY(Statement statement, database_->prepare("SELECT document, start, stop, tokens, text "
                                                  "FROM chunk WHERE id = ?"));
  TOK_TRY(const bool found, statement.bind(id).step());
  if (!found) return invalid_input("{}: there is no chunk {} any more.", path(), id);
  return StoredChunk{.id = id,
                     .document = statement.integer(0),
                     .start = uint64_t(statement.integer(1)),
                     .stop = uint64_t(statement.integer(2)),
                     .tokens = uint32_t(statement.integer(3)),
                     .text = std::string(statement.text(4))};
}

}  // namespace tokamak::memory
