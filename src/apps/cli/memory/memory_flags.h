// The flags that commands of `tokamak memory` share: which store, which model, which documents.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "memory/search.h"
#include "memory/store.h"

namespace tokamak::cli {

// Each adds one command to `memory` and sets `action` when it is chosen.
void add_memory_add(App& memory, Action& action);
void add_memory_search(App& memory, Action& action);
void add_memory_recall(App& memory, Action& action);
void add_memory_forget(App& memory, Action& action);
void add_memory_list(App& memory, Action& action);
void add_memory_export(App& memory, Action& action);
void add_memory_import(App& memory, Action& action);
void add_memory_rebuild(App& memory, Action& action);

/// Adds --store. Where it is not given the path stays "".
void add_store(App& command, std::string& path);
/// `path` itself, or the usual place where it is "". Errors: no home folder.
Result<std::string> store_path(const std::string& path);
Result<memory::Store> open_store(const std::string& path);

/// --source, --since, --before and --meta; ids are the command's own.
class FilterFlags {
 public:
  void add(App& command);
  /// Errors: a time that is none.
  Result<memory::Filter> filter() const;

 private:
  std::string source_, since_, before_;
  std::vector<std::string> meta_;
};

/// Seconds of 1970 of "2026-11-27", "2026-11-27T18:00" (UTC), or of so long ago: "30d", "12h".
Result<int64_t> parse_time(const std::string& text, int64_t now);
/// "2026-11-27 18:00", in UTC
std::string time_text(int64_t seconds);
int64_t now_seconds();
/// "1 chunk", "2 chunks"
std::string counted(uint64_t count, std::string_view noun);
/// The name and the value of "name=value".
Result<std::pair<std::string, std::string>> parse_meta(const std::string& text);

/// The question: the words of the command, or standard input.
Result<std::string> read_question(const std::vector<std::string>& words);

}  // namespace tokamak::cli
