// SQLite with owners: a file of tables, its statements and transactions, and its failures as
// sentences that name the file.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tokamak::memory {

class Database;

inline constexpr std::chrono::milliseconds kWait(5000);

/// One statement, for any number of rounds: bind() what it has ? for, in order, then step() through
/// its rows, or run() it.
class Statement {
 public:
  Statement& bind(int64_t value);
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::byte> bytes);
  /// True: there is a row. After the last one the statement may be bound again.
  Result<bool> step();
  /// All of it, whatever rows it has.
  Result<void> run();
  /// The first column of all rows.
  Result<std::vector<int64_t>> integers();

  // Columns of the row, from 0; texts and bytes live until the next step().
  int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::span<const std::byte> bytes(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int failure_ = 0;  // of a bind()
};

/// A database stays where it is: statements refer to it.
class Database {
 public:
  /// Opens a file that exists. Nothing is read of it yet. `wait`: for another program that writes.
  static Result<std::unique_ptr<Database>> open(const std::string& path,
                                                std::chrono::milliseconds wait = kWait);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Result<Statement> prepare(std::string_view sql) const;
  /// Statements without parameters, one after the other.
  Result<void> run(const char* sql) const;
  /// The first column of the only row.
  Result<int64_t> number(std::string_view sql) const;

  int64_t last_id() const;
  /// Another number after every change, by this program or another one.
  Result<int64_t> version() const;
  const std::string& path() const { return path_; }
  /// The error, for a person. `code`: SQLite's.
  Failure failure(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(std::string path, std::chrono::milliseconds wait, sqlite3* database)
      : path_(std::move(path)), wait_(wait), database_(database) {}

  std::string path_;
  std::chrono::milliseconds wait_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// A group of writes, which is there as a whole after commit(), and not at all without it.
class Transaction {
 public:
  /// Waits for another program that writes, as long as the database was set to.
  static Result<Transaction> begin(const Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;  // null: it has ended
};

}  // namespace tokamak::memory
