// The functions of sqlite3.h that database.cpp calls, over SQLite's own WebAssembly module, which
// the page has beside this one (docs/decisions/0051-memory-in-a-tab.md): the imports "sql" of
// web/tokamak-web/src/host/sql.ts. They are flat: databases and statements are that module's
// addresses as numbers, texts are a pointer and bytes of UTF-8. Each module has a memory of its
// own, so that what is bound and what is read is copied.
#include <sqlite3.h>

#include <cstdarg>
#include <cstring>
#include <map>
#include <string>

#define SQL_IMPORT(name) __attribute__((import_module("sql"), import_name(name)))

namespace {

using Handle = uint32_t;

extern "C" {
/// Makes a file where there is none. Like the others: SQLite's code.
SQL_IMPORT("open") int sql_open(const char* name, size_t bytes, Handle* out);
SQL_IMPORT("close") int sql_close(Handle database);
SQL_IMPORT("config") int sql_config(Handle database, int option, int value);
/// Writes at most `capacity` bytes of the last failure's message; their number.
SQL_IMPORT("message") size_t sql_message(Handle database, char* out, size_t capacity);
SQL_IMPORT("run") int sql_run(Handle database, const char* sql, size_t bytes);
SQL_IMPORT("last_id") int64_t sql_last_id(Handle database);
SQL_IMPORT("changes") int sql_changes(Handle database);

SQL_IMPORT("prepare") int sql_prepare(Handle database, const char* sql, size_t bytes, Handle* out);
SQL_IMPORT("finalize") int sql_finalize(Handle statement);
SQL_IMPORT("parameters") int sql_parameters(Handle statement);
SQL_IMPORT("bind_integer") int sql_bind_integer(Handle statement, int index, int64_t value);
SQL_IMPORT("bind_text")
int sql_bind_text(Handle statement, int index, const char* text, size_t bytes);
SQL_IMPORT("bind_blob")
int sql_bind_blob(Handle statement, int index, const void* start, size_t bytes);
SQL_IMPORT("step") int sql_step(Handle statement);
SQL_IMPORT("reset") int sql_reset(Handle statement);
SQL_IMPORT("integer") int64_t sql_integer(Handle statement, int column);
/// How many bytes a text or a blob has, and a copy of these.
SQL_IMPORT("bytes") size_t sql_bytes(Handle statement, int column);
SQL_IMPORT("copy") void sql_copy(Handle statement, int column, void* out, size_t bytes);
}

}  // namespace

struct sqlite3 {
  Handle handle = 0;
  std::string message;  // that sqlite3_errmsg() gave
};

struct sqlite3_stmt {
  Handle handle = 0;
  std::map<int, std::string> columns;  // of the row, those that were asked for
};

extern "C" {

int sqlite3_open_v2(const char* name, sqlite3** out, int, const char*) {
  *out = new sqlite3;
  return sql_open(name, std::strlen(name), &(*out)->handle);
}

int sqlite3_close_v2(sqlite3* database) {
  if (database == nullptr) return SQLITE_OK;
  const int code = sql_close(database->handle);
  delete database;
  return code;
}

// Nobody else has the file open while a call is in flight, and codes are the plain ones already.
int sqlite3_busy_timeout(sqlite3*, int) {
  return SQLITE_OK;
}
int sqlite3_extended_result_codes(sqlite3*, int) {
  return SQLITE_OK;
}

int sqlite3_db_config(sqlite3* database, int option, ...) {
  va_list arguments;
  va_start(arguments, option);
  const int value = va_arg(arguments, int);
  va_end(arguments);
  return sql_config(database->handle, option, value);
}

const char* sqlite3_errmsg(sqlite3* database) {
  database->message.resize(1024);
  database->message.resize(
      sql_message(database->handle, database->message.data(), database->message.size()));
  return database->message.c_str();
}

int sqlite3_exec(sqlite3* database, const char* sql, int (*)(void*, int, char**, char**), void*,
                 char**) {
  return sql_run(database->handle, sql, std::strlen(sql));
}

sqlite3_int64 sqlite3_last_insert_rowid(sqlite3* database) {
  return sql_last_id(database->handle);
}

int sqlite3_total_changes(sqlite3* database) {
  return sql_changes(database->handle);
}

int sqlite3_prepare_v2(sqlite3* database, const char* sql, int bytes, sqlite3_stmt** out,
                       const char**) {
  *out = new sqlite3_stmt;
  return sql_prepare(database->handle, sql, size_t(bytes), &(*out)->handle);
}

int sqlite3_finalize(sqlite3_stmt* statement) {
  const int code = sql_finalize(statement->handle);
  delete statement;
  return code;
}

int sqlite3_bind_parameter_count(sqlite3_stmt* statement) {
  return sql_parameters(statement->handle);
}

int sqlite3_bind_int64(sqlite3_stmt* statement, int index, sqlite3_int64 value) {
  return sql_bind_integer(statement->handle, index, value);
}

int sqlite3_bind_text64(sqlite3_stmt* statement, int index, const char* text, sqlite3_uint64 bytes,
                        void (*)(void*), unsigned char) {
  return sql_bind_text(statement->handle, index, text, size_t(bytes));
}

int sqlite3_bind_blob64(sqlite3_stmt* statement, int index, const void* start, sqlite3_uint64 bytes,
                        void (*)(void*)) {
  return sql_bind_blob(statement->handle, index, start, size_t(bytes));
}

int sqlite3_step(sqlite3_stmt* statement) {
  statement->columns.clear();
  return sql_step(statement->handle);
}

int sqlite3_reset(sqlite3_stmt* statement) {
  statement->columns.clear();
  return sql_reset(statement->handle);
}

sqlite3_int64 sqlite3_column_int64(sqlite3_stmt* statement, int column) {
  return sql_integer(statement->handle, column);
}

const void* sqlite3_column_blob(sqlite3_stmt* statement, int column) {
  std::string& own = statement->columns[column];
  own.resize(sql_bytes(statement->handle, column));
  sql_copy(statement->handle, column, own.data(), own.size());
  return own.data();
}

int sqlite3_column_bytes(sqlite3_stmt* statement, int column) {
  return int(sql_bytes(statement->handle, column));
}

}  // extern "C"
