#include "text/template/lexer.h"

#include <algorithm>
#include <array>

#include "text/template/string_literal.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

constexpr std::array<std::string_view, 26> kOperators = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

std::string with_plain_line_ends(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      out += '\n';
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_name_start(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || uint8_t(c) >= 0x80;
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  Lexer(std::string_view source, uint32_t& line) : source_(source), line_(line) { line_ = 1; }

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      const size_t open = find_delimiter();
      if (open == source_.npos) {
        add_text(source_.substr(at_));
        advance(source_.size());
        break;
      }
      const char kind = source_[open + 1];
      TOK_TRY(read_delimiter(open, kind));
    }
    tokens_.push_back({Token::Kind::kEnd, line_, ""});
    return std::move(tokens_);
  }

 private:
  char peek(size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }

  size_t find_delimiter() const {
    for (size_t i = at_; i + 1 < source_.size(); ++i) {
      const char next = source_[i + 1];
      if (source_[i] == '{' && (next == '{' || next == '%' || next == '#')) return i;
    }
    return source_.npos;
  }

  void advance(size_t to) {
    line_ += uint32_t(std::count(source_.begin() + std::ptrdiff_t(at_),
                                 source_.begin() + std::ptrdiff_t(to), '\n'));
    if (to > at_) line_starts_ = source_[to - 1] == '\n';
    at_ = to;
  }

  void add_text(std::string_view text) {
    if (!text.empty()) tokens_.push_back({Token::Kind::kText, line_, std::string(text)});
  }

  /// `text` in front of a tag that has `sign` after its opening.
  std::string_view before_tag(std::string_view text, char sign, bool is_output) const {
    if (sign == '-') return strip_spaces(text, Side::kRight);
    if (sign == '+' || is_output) return text;
    const size_t line_start = text.rfind('\n') + 1;  // npos + 1 is 0
    if (line_start == 0 && !line_starts_) return text;
    if (!strip_spaces(text.substr(line_start)).empty()) return text;
    return text.substr(0, line_start);
  }

  /// Skips what the end of a tag swallows: all whitespace after `-`, else one newline after a
  /// block or comment.
  void skip_after_tag(bool strip, bool trim_newline) {
    size_t to = at_;
    if (strip) {
      to = source_.size() - strip_spaces(source_.substr(at_), Side::kLeft).size();
    } else if (trim_newline && peek() == '\n') {
      ++to;
    }
    advance(to);
  }

  Result<void> read_delimiter(size_t open, char kind) {
    const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
    add_text(before_tag(source_.substr(at_, open - at_), sign, kind == '{'));
    advance(open + (sign == '-' || sign == '+' ? 3 : 2));
    if (kind == '#') return skip_comment();
    if (kind == '%' && at_raw()) return read_raw();
    tokens_.push_back(
        {kind == '{' ? Token::Kind::kOpenOutput : Token::Kind::kOpenBlock, line_, ""});
    return read_tag(kind == '{');
  }

  Result<void> skip_comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) return invalid_input("The comment has no end.");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    advance(end + 2);
    skip_after_tag(sign == '-', sign != '+');
    return {};
  }

  /// The offset after `word` and the spaces around it, or `from` when it does not stand there.
  size_t after_word(size_t from, std::string_view word) const {
    const std::string_view rest = strip_spaces(source_.substr(from), Side::kLeft);
    if (!rest.starts_with(word)) return from;
    return source_.size() - strip_spaces(rest.substr(word.size()), Side::kLeft).size();
  }

  bool at_raw() const {
    const size_t end = after_word(at_, "raw");
    return end != at_ &&
           (source_.substr(end).starts_with("%}") || source_.substr(end).starts_with("-%}"));
  }

  Result<void> read_raw() {
    advance(after_word(at_, "raw"));
    const bool strip_first = peek() == '-';
    advance(at_ + (strip_first ? 3 : 2));
    skip_after_tag(strip_first, false);
    for (size_t open = source_.find("{%", at_); open != source_.npos;
         open = source_.find("{%", open + 2)) {
      const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
      const size_t word = open + (sign == '-' || sign == '+' ? 3 : 2);
      const size_t end = after_word(word, "endraw");
      if (end == word) continue;
      const char last = end < source_.size() ? source_[end] : '\0';
      const size_t close = end + (last == '-' || last == '+' ? 1 : 0);
      if (!source_.substr(close).starts_with("%}")) continue;
      add_text(before_tag(source_.substr(at_, open - at_), sign, false));
      advance(close + 2);
      skip_after_tag(last == '-', last != '+');
      return {};
    }
    return invalid_input("The raw block has no end.");
  }

  Result<void> read_tag(bool is_output) {
    const std::string_view close = is_output ? "}}" : "%}";
    std::string brackets;  // closing ones still expected
    while (at_ < source_.size()) {
      const std::string_view rest = source_.substr(at_);
      const bool signed_close =
          (rest[0] == '-' || (rest[0] == '+' && !is_output)) && rest.substr(1).starts_with(close);
      if (brackets.empty() && (rest.starts_with(close) || signed_close)) {
        tokens_.push_back(
            {is_output ? Token::Kind::kCloseOutput : Token::Kind::kCloseBlock, line_, ""});
        advance(at_ + (signed_close ? 3 : 2));
        skip_after_tag(signed_close && rest[0] == '-', !is_output && !signed_close);
        return {};
      }
      TOK_TRY(read_token(brackets));
    }
    return invalid_input("The template ends inside a tag; \"{}\" is missing.", close);
  }

  Result<void> read_token(std::string& brackets) {
    const char c = peek();
    size_t after = at_;
    if (is_space(take_character(source_, after))) {
      advance(after);
      return {};
    }
    if (is_decimal(c)) return read_number();
    if (is_name_start(c)) return read_name();
    if (c == '\'' || c == '"') return read_string(c);
    const std::string_view rest = source_.substr(at_);
    for (const std::string_view op : kOperators) {
      if (!rest.starts_with(op)) continue;
      if (op == "(") brackets += ')';
      if (op == "[") brackets += ']';
      if (op == "{") brackets += '}';
      if (op == ")" || op == "]" || op == "}") {
        if (brackets.empty()) return invalid_input("Unexpected \"{}\".", op);
        if (brackets.back() != op[0]) {
          return invalid_input("Unexpected \"{}\" where \"{}\" is expected.", op, brackets.back());
        }
        brackets.pop_back();
      }
      tokens_.push_back({Token::Kind::kOperator, line_, std::string(op)});
      advance(at_ + op.size());
      return {};
    }
    return invalid_input("Unexpected character \"{}\".", c);
  }

  Result<void> read_name() {
    size_t end = at_;
    while (end < source_.size() && (is_name_start(source_[end]) || is_decimal(source_[end]))) ++end;
    const std::string_view name = source_.substr(at_, end - at_);
    for (size_t at = 0; at < name.size();) {
      const char32_t c = take_character(name, at);
      if (c >= 0x80 && !is_letter(c) && !is_decimal_digit(c)) {
        return invalid_input("The name \"{}\" has a character that names cannot have.", name);
      }
    }
    tokens_.push_back({Token::Kind::kName, line_, std::string(name)});
    advance(end);
    return {};
  }

  Result<void> read_number() {
    size_t end = at_;
    const auto digits = [&](auto accept) {
      const size_t start = end;
      while (end < source_.size() &&
             (accept(source_[end]) || (source_[end] == '_' && end > start))) {
        ++end;
      }
      return end > start;
    };
    const char base = peek() == '0' ? char(peek(1) | 0x20) : '\0';
    bool is_float = false;
    if (base == 'x' || base == 'o' || base == 'b') {
      end += 2;
      digits(
          [](char c) { return is_decimal(c) || (char(c | 0x20) >= 'a' && char(c | 0x20) <= 'f'); });
    } else {
      digits(is_decimal);
      // After a dot, as in x.1.2, a number is an index and never has a fraction.
      const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
      if (!after_dot && end + 1 < source_.size() && source_[end] == '.' &&
          is_decimal(source_[end + 1])) {
        ++end;
        is_float = digits(is_decimal);
      }
      const size_t mantissa = end;
      if (!after_dot && end < source_.size() && char(source_[end] | 0x20) == 'e') {
        ++end;
        if (end < source_.size() && (source_[end] == '+' || source_[end] == '-')) ++end;
        if (digits(is_decimal)) {
          is_float = true;
        } else {
          end = mantissa;
        }
      }
    }
    std::string text(source_.substr(at_, end - at_));
    std::erase(text, '_');
    tokens_.push_back(
        {is_float ? Token::Kind::kFloat : Token::Kind::kInteger, line_, std::move(text)});
    advance(end);
    return {};
  }

  Result<void> read_string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return invalid_input("The string literal has no end.");
    TOK_TRY(std::string text, resolve_escapes(source_.substr(at_ + 1, end - at_ - 1)));
    tokens_.push_back({Token::Kind::kString, line_, std::move(text)});
    advance(end + 1);
    return {};
  }

  std::string_view source_;
  uint32_t& line_;
  size_t at_ = 0;
  bool line_starts_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source, uint32_t& line) {
  const std::string plain = with_plain_line_ends(source);
  return Lexer(plain, line).run();
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kText:
      return "text";
    case Token::Kind::kOpenOutput:
      return "\"{{\"";
    case Token::Kind::kCloseOutput:
      return "\"}}\"";
    case Token::Kind::kOpenBlock:
      return "\"{%\"";
    case Token::Kind::kCloseBlock:
      return "\"%}\"";
    case Token::Kind::kString:
      return "a string";
    case Token::Kind::kEnd:
      return "the end of the template";
    case Token::Kind::kName:
    case Token::Kind::kInteger:
    case Token::Kind::kFloat:
    case Token::Kind::kOperator:
      break;
  }
  return fmt::format("\"{}\"", token.text);
}

}  // namespace tokamak::jinja
