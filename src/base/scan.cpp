#include "base/scan.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"

namespace tokamak {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '/';
}

}  // namespace

void Scanner::skip_blanks() {
  while (!at_end() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
}

void Scanner::skip_lines() {
  for (skip_blanks(); !at_end(); skip_blanks()) {
    if (text_[position_] == '#') {
      while (!at_end() && text_[position_] != '\n') ++position_;
    } else if (text_[position_] == '\n' || text_[position_] == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

bool Scanner::take(std::string_view literal) {
  skip_blanks();
  if (!text_.substr(position_).starts_with(literal)) return false;
  position_ += literal.size();
  return true;
}

Result<void> Scanner::expect(std::string_view literal) {
  if (!take(literal)) return wrong(fmt::format("\"{}\"", literal));
  return {};
}

bool Scanner::at_line_end() {
  skip_blanks();
  return at_end() || text_[position_] == '\n' || text_[position_] == '\r';
}

Result<void> Scanner::expect_line_end() {
  if (!at_line_end()) return wrong("a line end");
  return {};
}

Result<std::string> Scanner::word() {
  skip_blanks();
  const size_t start = position_;
  while (!at_end() && is_word_character(text_[position_])) ++position_;
  if (position_ == start) return wrong("a name");
  return std::string(text_.substr(start, position_ - start));
}

Result<std::string> Scanner::word_with_sign() {
  skip_blanks();
  const size_t start = position_;
  while (!at_end() && (is_word_character(text_[position_]) || text_[position_] == '+')) ++position_;
  if (position_ == start) return wrong("a number");
  return std::string(text_.substr(start, position_ - start));
}

Result<std::string> Scanner::quoted() {
  skip_blanks();
  if (at_end() || text_[position_] != '"') return wrong("a quoted string");
  size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  if (end >= text_.size() || text_[end] != '"') return wrong("a closing quote");
  auto parsed = Json::parse(text_.substr(position_, end + 1 - position_));
  if (!parsed || !parsed->is_string()) return wrong("a quoted string");
  position_ = end + 1;
  return parsed->as_string();
}

Result<uint64_t> Scanner::integer() {
  skip_blanks();
  uint64_t value = 0;
  const char* start = text_.data() + position_;
  const auto [end, status] = std::from_chars(start, text_.data() + text_.size(), value);
  if (status != std::errc() || end == start) return wrong("an unsigned integer");
  position_ += size_t(end - start);
  return value;
}

Result<uint32_t> Scanner::integer32() {
  TOK_TRY(const uint64_t value, integer());
  if (value > UINT32_MAX) return wrong("a 32-bit integer");
  return uint32_t(value);
}

Result<float> Scanner::number() {
  const size_t start = position_;
  TOK_TRY(const std::string spelling, word_with_sign());
  const char* const end = spelling.data() + spelling.size();
  float value = 0;  // std::strtof would heed the locale of the program around
  const auto [stop, status] = std::from_chars(spelling.data(), end, value);
  if (status != std::errc() || stop != end || !std::isfinite(value)) {
    position_ = start;
    return wrong("a finite number");
  }
  return value;
}

Failure Scanner::wrong(std::string_view expected) const {
  const size_t position = std::min(position_, text_.size());
  const auto line = 1 + std::count(text_.begin(), text_.begin() + std::ptrdiff_t(position), '\n');
  std::string found(text_.substr(position, 20));
  found = found.substr(0, found.find('\n'));
  for (char& c : found) c = (c >= 0x20 && c < 0x7f) ? c : '?';
  return invalid_input("line {}: found \"{}\", expected {}.", line, found, expected);
}

}  // namespace tokamak
