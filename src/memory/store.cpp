#include "memory/store.h"

#include "memory/numbers.h"
#include "memory/store_file.h"
#include "memory/words.h"

namespace tokamak::memory {
namespace {

/// "Tmem": distinguishes a store from the files of other programs that use SQLite.
constexpr int64_t kApplication = 0x546d656d;
constexpr int64_t kVersion = 2;

constexpr const char* kTables = R"(
CREATE TABLE rule (pattern TEXT NOT NULL PRIMARY KEY) STRICT;
CREATE TABLE model (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, pooling TEXT NOT NULL,
  dimension INTEGER NOT NULL, fingerprint BLOB NOT NULL) STRICT;
CREATE TABLE document (id INTEGER PRIMARY KEY AUTOINCREMENT,
  model INTEGER NOT NULL REFERENCES model(id), source TEXT NOT NULL, title TEXT NOT NULL,
  hash INTEGER NOT NULL, added INTEGER NOT NULL, meta TEXT NOT NULL) STRICT;
CREATE INDEX document_hash ON document (hash);
CREATE INDEX document_source ON document (source);
CREATE INDEX document_model ON document (model);
CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES document(id), start INTEGER NOT NULL, stop INTEGER NOT NULL,
  tokens INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
CREATE INDEX chunk_document ON chunk (document, start);
CREATE TABLE vector (chunk INTEGER PRIMARY KEY REFERENCES chunk(id), numbers BLOB NOT NULL) STRICT;
PRAGMA application_id = 0x546d656d;
)";

/// Combining marks are parts of words; texts are those of index_text(), which the index need not
/// keep.
constexpr const char* kWords = R"(
CREATE VIRTUAL TABLE chunk_words USING fts5(text, content='',
  tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
PRAGMA user_version = 2;
)";

}  // namespace

Result<Store> Store::open(const std::string& path, std::chrono::milliseconds wait) {
  TOK_TRY(check_store_file(path));
  return opened(path, wait, false);
}

Result<Store> Store::open_or_create(const std::string& path, std::chrono::milliseconds wait) {
  TOK_TRY(make_store_file(path));
  return opened(path, wait, true);
}

Result<Store> Store::opened(const std::string& path, std::chrono::milliseconds wait,
                            bool may_be_new) {
  TOK_TRY(std::unique_ptr<Database> database, Database::open(path, wait));
  Store store(std::move(database));
  const Database& own = *store.database_;
  TOK_TRY(int64_t application, own.number("PRAGMA application_id"));
  TOK_TRY(const int64_t tables, own.number("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && tables == 0 && may_be_new) {
    TOK_TRY(store.make_tables());
    application = kApplication;
  }
  if (application != kApplication) {
    return invalid_input("{} is no store of memories{}.", path,
                         tables == 0 ? ": it is empty" : ", but another program's database");
  }
  TOK_TRY(const int64_t version, own.number("PRAGMA user_version"));
  if (version < 1 || version > kVersion) {
    return unsupported("{} has version {} of the format, and this program reads 1 to {}.", path,
                       version, kVersion);
  }
  TOK_TRY(own.run("PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL"));
  if (version < kVersion) TOK_TRY(store.index_again());
  return store;
}

Result<void> Store::make_tables() const {
  TOK_TRY(Transaction transaction, begin());
  // Another program may have been faster.
  TOK_TRY(const int64_t application, database_->number("PRAGMA application_id"));
  if (application == kApplication) return {};
  TOK_TRY(database_->run(kTables));
  TOK_TRY(database_->run(kWords));
  return transaction.commit();
}

Result<void> Store::index_again() const {
  TOK_TRY(Transaction transaction, begin());
  // Another program may have been faster.
  TOK_TRY(const int64_t version, database_->number("PRAGMA user_version"));
  if (version == kVersion) return {};
  TOK_TRY(database_->run("DROP TABLE chunk_words"));
  TOK_TRY(database_->run(kWords));
  TOK_TRY(Statement chunks, database_->prepare("SELECT id, text FROM chunk"));
  TOK_TRY(Statement words,
          database_->prepare("INSERT INTO chunk_words (rowid, text) VALUES (?, ?)"));
  for (;;) {
    TOK_TRY(const bool continues, chunks.step());
    if (!continues) break;
    const std::string text = index_text(chunks.text(1));
    TOK_TRY(words.bind(chunks.integer(0)).bind(std::string_view(text)).run());
  }
  return transaction.commit();
}

Result<std::optional<Model>> Store::model() const {
  TOK_TRY(Statement statement,
          database_->prepare("SELECT name, pooling, dimension, fingerprint FROM model "
                             "ORDER BY id DESC LIMIT 1"));
  TOK_TRY(const bool found, statement.step());
  if (!found) return std::nullopt;
  return Model{.name = std::string(statement.text(0)),
               .pooling = std::string(statement.text(1)),
               .dimension = uint32_t(statement.integer(2)),
               .fingerprint = numbers_of<float>(statement.bytes(3))};
}

Result<void> Store::add_model(const Model& model) const {
  TOK_TRY(Statement statement,
          database_->prepare("INSERT INTO model (name, pooling, dimension, fingerprint) "
                             "VALUES (?, ?, ?, ?)"));
  statement.bind(std::string_view(model.name)).bind(std::string_view(model.pooling));
  statement.bind(int64_t{model.dimension}).bind(std::as_bytes(std::span(model.fingerprint)));
  return statement.run();
}

Result<void> Store::drop_old_models() const {
  return database_->run("DELETE FROM model WHERE id < (SELECT max(id) FROM model)");
}

Result<uint64_t> Store::outdated() const {
  TOK_TRY(const int64_t count, database_->number("SELECT count(*) FROM document "
                                                 "WHERE model < (SELECT max(id) FROM model)"));
  return uint64_t(count);
}

Result<std::optional<int64_t>> Store::next_outdated() const {
  TOK_TRY(Statement statement, database_->prepare("SELECT min(id) FROM document "
                                                  "WHERE model < (SELECT max(id) FROM model)"));
  TOK_TRY(statement.step());
  const int64_t id = statement.integer(0);
  return id == 0 ? std::nullopt : std::optional(id);
}

Result<std::vector<std::string>> Store::rules() const {
  TOK_TRY(Statement statement, database_->prepare("SELECT pattern FROM rule ORDER BY rowid"));
  std::vector<std::string> out;
  for (;;) {
    TOK_TRY(const bool continues, statement.step());
    if (!continues) return out;
    out.emplace_back(statement.text(0));
  }
}

Result<void> Store::add_rule(std::string_view pattern) const {
  TOK_TRY(Statement statement, database_->prepare("INSERT OR IGNORE INTO rule VALUES (?)"));
  return statement.bind(pattern).run();
}

Result<void> Store::check() const {
  TOK_TRY(Statement statement, database_->prepare("PRAGMA integrity_check(1)"));
  TOK_TRY(statement.step());
  if (statement.text(0) != "ok") {
    return invalid_input("{} is damaged: {}.", path(), statement.text(0));
  }
  TOK_TRY(statement.run());
  return database_->run("INSERT INTO chunk_words(chunk_words, rank) VALUES('integrity-check', 1)");
}

}  // namespace tokamak::memory
