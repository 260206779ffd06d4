#include "kernels/cuda/lexer.h"

#include <algorithm>
#include <cctype>

#include "kernels/unroll.h"
#include "kernels/words.h"

namespace tokamak::wgsl {
namespace {

/// The longest first.
constexpr std::string_view kSigns[] = {
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=",  "/=",  "%=", "&=", "|=", "^=", "(",  ")",  "{",  "}",  "[",  "]",  "<",  ">",  ",",
    ";",   ":",   ".",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "!",  "~",  "=",  "@"};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// How many letters the number at the begin of `text` has: digits, a fraction, an exponent with its
/// sign, a suffix.
size_t number_length(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  size_t length = 1;
  while (length < text.size()) {
    const char c = text[length], before = text[length - 1];
    const bool is_exponent_sign =
        (c == '+' || c == '-') && (is_hex ? before == 'p' : before == 'e' || before == 'E');
    if (!is_word_letter(c) && c != '.' && !is_exponent_sign) break;
    ++length;
  }
  return length;
}

/// The remark that asks for a loop's rounds, if `comment` is one.
bool is_unroll(std::string_view comment, std::string_view& most) {
  if (!comment.starts_with(kUnrollMark)) return false;
  comment.remove_prefix(kUnrollMark.size());
  if (!comment.empty() && !comment.starts_with(kUnrollLimit)) return false;
  most = comment.empty() ? comment : comment.substr(kUnrollLimit.size());
  return true;
}

}  // namespace

Failure text_error(std::span<const ShaderPiece> pieces, Place at, std::string_view message) {
  return unsupported("{}:{}: {}", pieces[at.piece].name, at.line, message);
}

Result<std::vector<Token>> tokens_of(std::span<const ShaderPiece> pieces) {
  std::vector<Token> tokens;
  Place at;
  for (; at.piece < pieces.size(); ++at.piece) {
    at.line = 1;
    for (std::string_view rest = pieces[at.piece].text; !rest.empty();) {
      const auto take = [&](size_t length, TokenKind kind) {
        tokens.push_back({kind, rest.substr(0, length), at});
        rest.remove_prefix(length);
      };
      if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
        if (rest.front() == '\n') ++at.line;
        rest.remove_prefix(1);
      } else if (rest.starts_with("//")) {
        const std::string_view comment = rest.substr(0, rest.find('\n'));
        std::string_view most;
        if (is_unroll(comment, most)) tokens.push_back({TokenKind::kUnroll, most, at});
        rest.remove_prefix(comment.size());
      } else if (is_digit(rest.front()) ||
                 (rest.size() > 1 && rest.front() == '.' && is_digit(rest[1]))) {
        take(number_length(rest), TokenKind::kNumber);
      } else if (is_word_letter(rest.front())) {
        take(size_t(std::ranges::find_if_not(rest, is_word_letter) - rest.begin()),
             TokenKind::kWord);
      } else {
        const auto sign = std::ranges::find_if(
            kSigns, [&](std::string_view one) { return rest.starts_with(one); });
        if (sign == std::end(kSigns)) {
          return text_error(pieces, at, fmt::format("\"{}\" begins nothing", rest.front()));
        }
        take(sign->size(), TokenKind::kSign);
      }
    }
  }
  if (!pieces.empty()) at.piece = uint32_t(pieces.size() - 1);
  tokens.push_back({TokenKind::kEnd, "the end", at});
  return tokens;
}

}  // namespace tokamak::wgsl
