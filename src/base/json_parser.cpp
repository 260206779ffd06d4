// The parser of base/json.h: JSON (RFC 8259), and beyond it what Python's json module writes and
// reads: NaN, Infinity and -Infinity, and integers of any size.
//
// It keeps a stack of its own, so that a text of brackets cannot exhaust the program's.
#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"

namespace tokamak {
namespace {

constexpr size_t kMaxIntegerDigits = 4300;  // as in Python
constexpr size_t kShownBytes = 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A part of a text on one line of a message.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (uint8_t(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "<U+{:04X}>", uint8_t(c));
    } else {
      out += uint8_t(c) < 0x7f ? c : '?';
    }
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> run() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    TOK_TRY(value());
    while (!stack_.empty()) TOK_TRY(next());
    skip_blanks();
    if (at_ < text_.size()) return malformed(at_, at_);
    return std::move(root_);
  }

 private:
  /// At a value: takes all of it, or opens the array or object that it is.
  Result<void> value() {
    skip_blanks();
    if (at_ == text_.size()) return malformed(at_, at_);
    switch (text_[at_]) {
      case '{':
        return open(Json(Json::Object{}));
      case '[':
        return open(Json(Json::Array{}));
      case '"': {
        TOK_TRY(std::string text, string());
        add(Json(std::move(text)));
        return {};
      }
      default:
        return take_word() ? Result<void>() : number();
    }
  }

  /// Inside an array or object: takes an item and what is before it, or closes the container.
  Result<void> next() {
    skip_blanks();
    if (at_ == text_.size()) return malformed(at_, at_);
    const bool is_array = stack_.back().is_array();
    if (text_[at_] == (is_array ? ']' : '}')) {
      ++at_;
      close();
      return {};
    }
    if (!is_fresh_) {
      if (text_[at_] != ',') return malformed(at_, at_);
      ++at_;
    }
    is_fresh_ = false;
    if (!is_array) {
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != '"') return malformed(at_, at_);
      TOK_TRY(names_.back(), string());
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != ':') return malformed(at_, at_);
      ++at_;
    }
    return value();
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool take_word() {
    static const std::pair<std::string_view, Json> words[] = {
        {"true", true},
        {"false", false},
        {"null", nullptr},
        {"NaN", std::numeric_limits<double>::quiet_NaN()},
        {"Infinity", std::numeric_limits<double>::infinity()},
        {"-Infinity", -std::numeric_limits<double>::infinity()},
    };
    for (const auto& [word, meaning] : words) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      add(meaning);
      return true;
    }
    return false;
  }

  /// Moves `end` past digits; whether there were any.
  bool digits(size_t& end) const {
    const size_t start = end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end > start;
  }

  Result<void> number() {
    const size_t start = at_;
    size_t end = start;
    const auto is_at = [&](std::string_view any) {
      return end < text_.size() && any.find(text_[end]) != any.npos;
    };
    if (is_at("-")) ++end;
    if (is_at("0")) {
      ++end;
    } else if (!digits(end)) {
      return malformed(start, end);
    }
    const size_t whole = end;
    if (is_at(".") && !digits(++end)) return malformed(start, end);
    if (is_at("eE")) {
      ++end;
      if (is_at("+-")) ++end;
      if (!digits(end)) return malformed(start, end);
    }
    const std::string_view spelling = text_.substr(start, end - start);
    at_ = end;
    if (end != whole) {
      add(Json(number_of(spelling)));
      return {};
    }
    int64_t integer = 0;
    if (std::from_chars(spelling.data(), spelling.data() + spelling.size(), integer).ec ==
        std::errc()) {
      add(Json(integer));
      return {};
    }
    if (spelling.size() > kMaxIntegerDigits) {
      return invalid_input("The number {}... has more than {} digits.",
                           spelling.substr(0, kShownBytes), kMaxIntegerDigits);
    }
    add(Json(BigInteger{std::string(spelling)}));
    return {};
  }

  /// At the quotation mark that opens a text.
  Result<std::string> string() {
    const size_t start = at_++;
    std::string out;
    while (true) {
      const size_t run = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      out += text_.substr(run, at_ - run);
      if (at_ == text_.size()) return malformed(start, at_);
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\') {
        TOK_TRY(escape(start, out));
        continue;
      }
      const std::string_view rest = text_.substr(at_);
      const uint32_t bytes = uint8_t(c) < 0x80 ? 0 : first_char(rest).bytes;
      if (bytes == 0 || !is_valid_utf8(rest.substr(0, bytes))) return malformed(start, at_);
      out += rest.substr(0, bytes);
      at_ += bytes;
    }
  }

  static bool is_plain(char c) {
    return uint8_t(c) >= 0x20 && uint8_t(c) < 0x80 && c != '"' && c != '\\';
  }

  /// At a backslash of the text that starts at `start`.
  Result<void> escape(size_t start, std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (at_ < text_.size() && text_[at_] == 'u') {
      TOK_TRY(char32_t unit, code_unit(start));
      if (unit >= 0xDC00 && unit < 0xE000) return malformed(start, at_ - 1);
      if (unit >= 0xD800 && unit < 0xDC00) {
        if (!text_.substr(at_).starts_with("\\u")) return malformed(start, at_);
        ++at_;
        TOK_TRY(const char32_t second, code_unit(start));
        if (second < 0xDC00 || second >= 0xE000) return malformed(start, at_ - 1);
        unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
      }
      append_utf8(out, unit);
      return {};
    }
    const size_t letter = at_ == text_.size() ? kLetters.npos : kLetters.find(text_[at_]);
    if (letter == kLetters.npos) return malformed(start, at_);
    out += kMeanings[letter];
    ++at_;
    return {};
  }

  /// At the "u" before four hexadecimal digits.
  Result<char32_t> code_unit(size_t start) {
    ++at_;
    uint32_t unit = 0;
    for (size_t i = 0; i < 4; ++i, ++at_) {
      uint32_t digit = 0;
      const char* first = text_.data() + at_;
      if (at_ == text_.size() || std::from_chars(first, first + 1, digit, 16).ptr == first) {
        return malformed(start, at_);
      }
      unit = unit * 16 + digit;
    }
    return char32_t(unit);
  }

  void add(Json item) {
    if (stack_.empty()) {
      root_ = std::move(item);
    } else if (stack_.back().is_array()) {
      stack_.back().as_array().push_back(std::move(item));
    } else {
      stack_.back().as_object().emplace_back(std::move(names_.back()), std::move(item));
    }
  }

  Result<void> open(Json container) {
    if (stack_.size() >= Json::kMaxDepth) {
      return invalid_input("The JSON text nests deeper than {} levels.", Json::kMaxDepth);
    }
    stack_.push_back(std::move(container));
    names_.emplace_back();
    is_fresh_ = true;
    ++at_;
    return {};
  }

  void close() {
    Json done = std::move(stack_.back());
    stack_.pop_back();
    names_.pop_back();
    is_fresh_ = false;
    add(std::move(done));
  }

  /// The text from `start` on went wrong at `position`.
  Failure malformed(size_t start, size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const size_t line = 1 + size_t(std::count(before.begin(), before.end(), '\n'));
    const size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    const size_t column = position - line_start + 1;
    if (position == text_.size()) {
      return invalid_input("The JSON text ends too early, at line {} column {}.", line, column);
    }
    if (position - start >= kShownBytes) start = position + 1 - kShownBytes;
    return invalid_input("The JSON text is malformed at line {} column {}, near \"{}\".", line,
                         column, on_one_line(text_.substr(start, position + 1 - start)));
  }

  std::string_view text_;
  size_t at_ = 0;
  bool is_fresh_ = false;  // the innermost container has been opened and has no items yet
  std::vector<Json> stack_;
  std::vector<std::string> names_;  // of the member that is read in each of them
  Json root_;
};

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  if (text.empty()) return invalid_input("The JSON text is empty.");
  return Parser(text).run();
}

}  // namespace tokamak
