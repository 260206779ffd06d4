#include "text/tokenizer/oniguruma_reader.h"

#include <algorithm>

#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr uint32_t kMaxClassDepth = 32;

std::optional<uint32_t> digit_value(char c, uint32_t base) {
  uint32_t value = base;
  if (c >= '0' && c <= '9') value = uint32_t(c - '0');
  if (c >= 'a' && c <= 'f') value = uint32_t(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') value = uint32_t(c - 'A' + 10);
  if (value >= base) return std::nullopt;
  return value;
}

size_t bytes_after_first(uint8_t byte) {
  return byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
}

}  // namespace

char32_t OnigurumaReader::take() {
  const Utf8Char c = first_char(rest());
  at_ += c.bytes;
  return c.value;
}

bool OnigurumaReader::take_if(std::string_view text) {
  if (!rest().starts_with(text)) return false;
  at_ += text.size();
  return true;
}

std::optional<std::string_view> OnigurumaReader::take_until(std::string_view end) {
  const size_t found = rest().find(end);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest().substr(0, found);
  at_ += found + end.size();
  return text;
}

std::string OnigurumaReader::place(size_t start) const {
  const auto is_first = [](char c) { return (uint8_t(c) & 0xC0) != 0x80; };
  return fmt::format("character {}",
                     1 + std::ranges::count_if(pattern_.substr(0, start), is_first));
}

Failure OnigurumaReader::refuse(std::string_view what, size_t start) const {
  return unsupported("The regular expression \"{}\" uses {} at {}, which is not supported.",
                     pattern_, what, place(start));
}

Failure OnigurumaReader::mistake(std::string_view what, size_t start) const {
  return invalid_input("The regular expression \"{}\" has {} at {}.", pattern_, what, place(start));
}

Result<char32_t> OnigurumaReader::take_bytes(uint8_t first, size_t start) {
  std::string bytes(1, char(first));
  for (size_t i = 0; i < bytes_after_first(first); ++i) {
    if (!take_if("\\x")) break;
    uint32_t value = 0;
    for (size_t digits = 0; digits < 2 && !at_end(); ++digits, ++at_) {
      const auto digit = digit_value(rest()[0], 16);
      if (!digit) break;
      value = value * 16 + *digit;
    }
    bytes += char(value);
  }
  if (!is_valid_utf8(bytes)) return refuse("a byte that is no character", start);
  return first_char(bytes).value;
}

/// At most `max_digits`; 0 when there is none. What goes beyond ASCII is a byte.
Result<char32_t> OnigurumaReader::take_code(size_t start, uint32_t base, size_t max_digits) {
  uint32_t value = 0;
  for (size_t digits = 0; digits < max_digits && !at_end(); ++digits, ++at_) {
    const auto digit = digit_value(rest()[0], base);
    if (!digit) break;
    value = value * base + *digit;
  }
  if (value > 0xFF) return mistake("a number that is no byte", start);
  if (value >= 0x80) return take_bytes(uint8_t(value), start);
  return char32_t(value);
}

/// After "{", which is skipped.
Result<char32_t> OnigurumaReader::take_braced_code(size_t start, uint32_t base) {
  const auto text = take_until("}");
  if (!text || text->empty()) return mistake("a code point without its end", start);
  uint32_t value = 0;
  for (const char c : *text) {
    const auto digit = digit_value(c, base);
    if (!digit && (c == ' ' || c == '-' || c == '\n')) {
      return refuse("a list of code points", start);
    }
    if (!digit || value > 0x10FFFF) return mistake("a code point that does not exist", start);
    value = value * base + *digit;
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    return mistake("a code point that does not exist", start);
  }
  return char32_t(value);
}

Result<char32_t> OnigurumaReader::take_escaped(char32_t letter, size_t start) {
  constexpr std::string_view kLetters = "tnvfrae";
  constexpr std::string_view kValues = "\t\n\v\f\r\a\x1b";
  if (letter < 0x80) {
    const size_t found = kLetters.find(char(letter));
    if (found != kLetters.npos) return char32_t(kValues[found]);
  }
  if (letter >= '0' && letter <= '7') {
    --at_;  // the first digit belongs to the number
    return take_code(start, 8, 3);
  }
  if (letter == 'x') {
    if (take_if("{")) return take_braced_code(start, 16);
    if (at_end() || !digit_value(rest()[0], 16)) return letter;
    return take_code(start, 16, 2);
  }
  if (letter == 'o' && take_if("{")) return take_braced_code(start, 8);
  if (letter == 'u') {
    uint32_t value = 0;
    for (size_t digits = 0; digits < 4; ++digits, ++at_) {
      const auto digit = at_end() ? std::nullopt : digit_value(rest()[0], 16);
      if (!digit) return mistake("\\u without four hexadecimal digits", start);
      value = value * 16 + *digit;
    }
    if (value >= 0xD800 && value <= 0xDFFF) {
      return mistake("a code point that does not exist", start);
    }
    return char32_t(value);
  }
  if (letter == 'c' || (letter == 'C' && take_if("-"))) {
    if (at_end() || rest()[0] == '\\' || uint8_t(rest()[0]) >= 0x80) {
      return refuse("a control character that is no letter's", start);
    }
    const char32_t c = take();
    return c == '?' ? char32_t{0x7F} : c & 0x1F;
  }
  if (letter == 'M' && rest().starts_with("-")) return refuse("a meta character", start);
  return letter;
}

/// The named `set` in a class under (?i).
Result<CharSet> OnigurumaReader::folded(CharSet set, std::string_view name, bool negated,
                                        size_t start) const {
  const auto more = other_cases(name);
  if (!more || (negated && !more->empty())) {
    return refuse(fmt::format("the property \"{}\" in a class under (?i)", name), start);
  }
  set.items += *more;
  return set;
}

Result<CharSet> OnigurumaReader::take_property(bool negated, bool ignore_case, bool in_class,
                                               size_t start) {
  const auto text = take_until("}");
  if (!text) return mistake("a property without its end", start);
  std::string_view name = *text;
  if (name.starts_with('^')) {
    negated = !negated;
    name.remove_prefix(1);
  }
  if (ignore_case && is_property_of_case(name)) {
    return refuse(fmt::format("the property \"{}\" under (?i)", name), start);
  }
  auto set = property_set(name, knows_property_);
  if (!set) return refuse(fmt::format("the property \"{}\"", name), start);
  if (ignore_case && in_class) {
    TOK_TRY(set, folded(*set, name, negated, start));
  }
  return negated ? set->negated() : *set;
}

Result<std::optional<CharSet>> OnigurumaReader::take_escaped_set(char32_t letter, bool ignore_case,
                                                                 bool in_class, size_t start) {
  if ((letter == 'p' || letter == 'P') && take_if("{")) {
    TOK_TRY(CharSet set, take_property(letter == 'P', ignore_case, in_class, start));
    return set;
  }
  if (letter >= 0x80) return std::nullopt;
  if (letter == 'w' && !in_class) return word_outside_of_class();
  if (letter == 'W' && !in_class) return word_outside_of_class().negated();
  if (const auto set = escape_set(char(letter))) return set;
  const auto set = letter >= 'A' && letter <= 'Z' ? escape_set(char(letter - 'A' + 'a'))
                                                  : std::optional<CharSet>();
  if (!set) return std::nullopt;
  return set->negated();
}

Result<OnigurumaReader::ClassItem> OnigurumaReader::take_class_item(bool ignore_case,
                                                                    uint32_t depth) {
  const size_t start = at_;
  const char32_t c = take();
  if (c == '[') {
    const size_t close = rest().find(":]");
    if (rest().starts_with(":") && close != std::string_view::npos && close > 0) {
      std::string_view name = rest().substr(1, close - 1);
      const bool negated = name.starts_with('^');
      if (negated) name.remove_prefix(1);
      auto set = bracket_set(name);
      if (!set || (ignore_case && is_property_of_case(name))) {
        return refuse(fmt::format("the class [:{}:]", name), start);
      }
      if (ignore_case) {
        TOK_TRY(set, folded(*set, name, negated, start));
      }
      skip(close + 2);
      return ClassItem{std::nullopt, negated ? set->negated() : *set};
    }
    TOK_TRY(CharSet set, take_class(ignore_case, depth + 1));
    return ClassItem{std::nullopt, std::move(set)};
  }
  if (c != '\\') return ClassItem{c, {}};
  if (at_end()) return mistake("a backslash without a character", start);
  const char32_t letter = take();
  TOK_TRY(auto set, take_escaped_set(letter, ignore_case, true, start));
  if (set) return ClassItem{std::nullopt, *std::move(set)};
  if (letter == 'b') return ClassItem{U'\b', {}};
  TOK_TRY(const char32_t value, take_escaped(letter, start));
  return ClassItem{value, {}};
}

Result<CharSet> OnigurumaReader::take_class(bool ignore_case, uint32_t depth) {
  const size_t start = at_ - 1;
  if (depth > kMaxClassDepth) return refuse("classes nested too deeply", start);
  const bool negated = take_if("^");
  if (rest().starts_with("]") && rest().find(']', 1) == std::string_view::npos) {
    return mistake("an empty class", start);
  }
  CharSet current;
  std::optional<CharSet> before;  // what stands before the last "&&"
  const auto finish_operand = [&] {
    before = before ? intersection(*before, current) : std::move(current);
    current = {};
  };
  enum class Last : uint8_t { kNothing, kSet, kRange } last = Last::kNothing;
  for (bool is_first = true;; is_first = false) {
    if (at_end()) return mistake("a class without its end", start);
    if (!is_first && take_if("]")) break;
    if (take_if("&&")) {
      finish_operand();
      last = Last::kNothing;
      continue;
    }
    const size_t item_start = at_;
    const bool is_dash = rest().starts_with("-");
    const bool dash_ends = rest().starts_with("-]") || rest().starts_with("-&&");
    if (is_dash && !dash_ends && last == Last::kSet) {
      return mistake("a range that begins with a class", item_start);
    }
    TOK_TRY(ClassItem item, take_class_item(ignore_case, depth));
    if (!item.character) {
      current.add(item.set);
      last = Last::kSet;
      continue;
    }
    const bool is_range =
        rest().starts_with("-") && !rest().starts_with("-]") && !rest().starts_with("-&&");
    if (is_range && is_dash) return refuse("a range from \"-\"", item_start);
    append_literal(current.items, *item.character);
    last = Last::kRange;
    if (!is_range) continue;
    skip(1);
    if (at_end()) return mistake("a class without its end", start);
    TOK_TRY(const ClassItem end, take_class_item(ignore_case, depth));
    if (!end.character) return refuse("a range that ends with a class", item_start);
    if (*end.character < *item.character) return mistake("an empty range", item_start);
    current.items += '-';
    append_literal(current.items, *end.character);
  }
  if (before) {
    finish_operand();
    current = *std::move(before);
  }
  return negated ? current.negated() : current;
}

}  // namespace tokamak
