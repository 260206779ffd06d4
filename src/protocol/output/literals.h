// Values as models write them in calls: JSON, Python's literals, or texts between marks of their
// own.
#pragma once
#include <optional>
#include <string_view>

#include "base/json.h"

namespace tokamak::protocol {

class LiteralReader {
 public:
  static constexpr uint32_t kMaxDepth = 64;

  /// `mark`: what stands before and after every text, which has no escapes then; empty: quotes, as
  /// in Python and JSON.
  explicit LiteralReader(std::string_view text, std::string_view mark = {})
      : rest_(text), mark_(mark) {}

  /// The next value, after white space. Nothing where there is none.
  std::optional<Json> value() { return value(0); }
  /// Letters, digits, '_', '.' and '-', at least one.
  std::optional<std::string_view> name();
  /// Takes `text` where it is next, after white space.
  bool take(std::string_view text);
  /// The text that is left, without white space before it.
  std::string_view rest();

 private:
  std::optional<Json> value(uint32_t depth);
  std::optional<Json> list(std::string_view end, uint32_t depth);
  std::optional<Json> object(uint32_t depth);
  std::optional<std::string> text();
  std::optional<std::string> quoted_text(char quote);
  bool take_escape(std::string& out);

  std::string_view rest_, mark_;
};

}  // namespace tokamak::protocol
