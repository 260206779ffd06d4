// Which documents a search, a list or a deletion is about.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/database.h"

namespace tokamak::memory {

/// All that is set must hold; nothing is set for every document.
struct Filter {
  std::vector<int64_t> ids;
  std::string source;                    // with * and ? as in a shell
  std::optional<int64_t> since, before;  // seconds of 1970 when it was added: from, and until then
  std::vector<std::pair<std::string, std::string>> meta;  // names and values

  bool is_empty() const {
    return ids.empty() && source.empty() && !since && !before && meta.empty();
  }
};

/// The condition on a table "document" in SQL: "1" for every one.
std::string condition(const Filter& filter);
/// Binds what the condition has ? for.
void bind(Statement& statement, const Filter& filter);

}  // namespace tokamak::memory
