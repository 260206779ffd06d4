// The queries of a store: chunks by filters, by words, and all vectors.
#include <algorithm>

#include "memory/advice.h"
#include "memory/store.h"
#include "memory/words.h"

namespace tokamak::memory {
namespace {

/// Words that a twentieth of all chunks has tell nothing: the, and; or, among notes about foxes,
/// fox.
bool is_common(int64_t chunks_with_it, int64_t chunks) {
  return chunks_with_it > 5 && chunks_with_it > chunks / 20;
}

/// Any of the words, each in quotes: so FTS5 sees no syntax.
std::string any_of(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) {
    out += fmt::format("{}\"{}\"", out.empty() ? "" : " OR ", word);
  }
  return out;
}

}  // namespace

Result<std::vector<int64_t>> Store::chunk_ids(const Filter& filter) const {
  TOK_TRY(Statement statement, database_->prepare("SELECT chunk.id FROM document JOIN chunk "
                                                  "ON chunk.document = document.id WHERE " +
                                                  condition(filter) + " ORDER BY chunk.id"));
  bind(statement, filter);
  return statement.integers();
}

Result<std::vector<std::string>> Store::rare_words(std::string_view query) const {
  TOK_TRY(const int64_t chunks, database_->number("SELECT count(*) FROM chunk"));
  TOK_TRY(
      database_->run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary "
                     "USING fts5vocab('main', 'chunk_words', 'row')"));
  TOK_TRY(Statement statement,
          database_->prepare("SELECT doc FROM temp.vocabulary WHERE term = ?"));
  std::vector<std::string> words = distinct_words(query, kMaxWords);
  std::vector<std::string> out;
  for (std::string& word : words) {
    int64_t with_it = 0;
    statement.bind(std::string_view(word));
    for (;;) {
      TOK_TRY(const bool found, statement.step());
      if (!found) break;
      with_it = statement.integer(0);
    }
    if (!is_common(with_it, chunks)) out.push_back(std::move(word));
  }
  return out;
}

Result<std::vector<int64_t>> Store::match_words(std::span<const std::string> any,
                                                const Filter& filter, size_t most) const {
  if (any.empty()) return std::vector<int64_t>();
  const std::string words = any_of(any);
  const std::string sql =
      filter.is_empty()
          ? "SELECT rowid FROM chunk_words WHERE chunk_words MATCH ? ORDER BY rank LIMIT ?"
          : "SELECT chunk_words.rowid FROM chunk_words "
            "JOIN chunk ON chunk.id = chunk_words.rowid "
            "JOIN document ON document.id = chunk.document "
            "WHERE chunk_words MATCH ? AND " +
                condition(filter) + " ORDER BY chunk_words.rank LIMIT ?";
  TOK_TRY(Statement statement, database_->prepare(sql));
  statement.bind(std::string_view(words));
  bind(statement, filter);
  statement.bind(int64_t(most));
  return statement.integers();
}

Result<VectorIndex> Store::vectors() const {
  TOK_TRY(const std::optional<Model> own, model());
  VectorIndex index(own ? own->dimension : 0);
  TOK_TRY(Statement statement,
          database_->prepare("SELECT chunk, numbers FROM vector ORDER BY chunk"));
  std::vector<uint16_t> numbers(own ? own->dimension : 0);
  for (;;) {
    TOK_TRY(const bool continues, statement.step());
    if (!continues) return index;
    const std::span<const std::byte> bytes = statement.bytes(1);
    if (bytes.size() != numbers.size() * sizeof(uint16_t)) {
      return invalid_input("{}: the vector of chunk {} has {} bytes, expected {}. {}", path(),
                           statement.integer(0), bytes.size(), numbers.size() * sizeof(uint16_t),
                           kAdvice.bad_vectors);
    }
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(numbers)).begin());
    index.add(statement.integer(0), numbers);
  }
}

}  // namespace tokamak::memory
