#include "memory/filter.h"

namespace tokamak::memory {

std::string condition(const Filter& filter) {
  std::string sql = "1";
  if (!filter.ids.empty()) {
    sql += " AND document.id IN (?";
    for (size_t i = 1; i < filter.ids.size(); ++i) sql += ",?";
    sql += ")";
  }
  if (!filter.source.empty()) sql += " AND document.source GLOB ?";
  if (filter.since) sql += " AND document.added >= ?";
  if (filter.before) sql += " AND document.added < ?";
  for (size_t i = 0; i < filter.meta.size(); ++i) {
    sql += " AND EXISTS (SELECT 1 FROM json_each(document.meta) WHERE key = ? AND value = ?)";
  }
  return sql;
}

void bind(Statement& statement, const Filter& filter) {
  for (const int64_t id : filter.ids) statement.bind(id);
  if (!filter.source.empty()) statement.bind(std::string_view(filter.source));
  if (filter.since) statement.bind(*filter.since);
  if (filter.before) statement.bind(*filter.before);
  for (const auto& [name, value] : filter.meta) {
    statement.bind(std::string_view(name)).bind(std::string_view(value));
  }
}

}  // namespace tokamak::memory
