#include "memory/database.h"

#include <sqlite3.h>

#include <utility>

#include "base/check.h"
#include "memory/advice.h"

namespace tokamak::memory {
void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(int64_t value) {
  failure_ |= sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // A null pointer would be NULL instead of an empty text.
  const char* start = text.data() == nullptr ? "" : text.data();
  failure_ |= sqlite3_bind_text64(statement_.get(), ++bound_, start, text.size(), SQLITE_TRANSIENT,
                                  SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> bytes) {
  failure_ |=
      sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  TOK_CHECK(bound_ == sqlite3_bind_parameter_count(statement_.get()));
  const int code = failure_ != 0 ? SQLITE_NOMEM : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const auto result = code == SQLITE_DONE ? Result<bool>(false) : database_->failure(code);
  sqlite3_reset(statement_.get());
  if (bound_ > 0) bound_ = 0;
  return result;
}

Result<void> Statement::run() {
  for (;;) {
    TOK_TRY(const bool continues, step());
    if (!continues) return {};
  }
}

Result<std::vector<int64_t>> Statement::integers() {
  std::vector<int64_t> out;
  for (;;) {
    TOK_TRY(const bool continues, step());
    if (!continues) return out;
    out.push_back(integer(0));
  }
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const std::span<const std::byte> bytes = this->bytes(column);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Statement::bytes(int column) const {
  const void* start = sqlite3_column_blob(statement_.get(), column);
  const auto count = size_t(sqlite3_column_bytes(statement_.get(), column));
  return {static_cast<const std::byte*>(start), start == nullptr ? 0 : count};
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path,
                                                 std::chrono::milliseconds wait) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<Database> database(new Database(path, wait, opened));
  if (code != SQLITE_OK) return database->failure(code);
  sqlite3_extended_result_codes(opened, 0);
  sqlite3_busy_timeout(opened, int(wait.count()));
  // The file may be a stranger's: its schema can call nothing, and damage is looked for.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  TOK_TRY(database->run("PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), int(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Statement(*this, statement);
}

Result<void> Database::run(const char* sql) const {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

Result<int64_t> Database::number(std::string_view sql) const {
  TOK_TRY(Statement statement, prepare(sql));
  TOK_TRY(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(database_.get());
}

Result<int64_t> Database::version() const {
  TOK_TRY(const int64_t others, number("PRAGMA data_version"));
  return (others << 32) + sqlite3_total_changes(database_.get());
}

Failure Database::failure(int code) const {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return invalid_input(
          "{} is in use by another program, which has not let go of it for {} ms. Try again when "
          "that has ended.",
          path_, wait_.count());
    case SQLITE_NOTADB:
      return invalid_input("{} is not a SQLite database.", path_);
    case SQLITE_CORRUPT:
      return invalid_input("{} is damaged ({}). {}", path_, sqlite3_errmsg(database_.get()),
                           kAdvice.damaged);
    case SQLITE_FULL:
      return invalid_input("{} cannot be written: the disk is full.", path_);
    case SQLITE_READONLY:
      return invalid_input("{} cannot be written: the file or its folder is read-only.", path_);
    case SQLITE_CANTOPEN:
      return invalid_input("{} cannot be opened: no permission, or no file.", path_);
    case SQLITE_NOMEM:
      return fail(ErrorCode::kOutOfMemory, "{}: there is no memory left.", path_);
    default:
      return invalid_input("{}: {}.", path_, sqlite3_errmsg(database_.get()));
  }
}

Result<Transaction> Transaction::begin(const Database& database) {
  TOK_TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

Result<void> Transaction::commit() {
  TOK_TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace tokamak::memory
