#include "text/template/string_literal.h"

#include <algorithm>
#include <charconv>

#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// The single character that "\c" stands for, or 0.
char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      return '\0';
  }
}

size_t hex_digits(char c) {
  return c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
}

Result<void> append_code(std::string& out, uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    return invalid_input("The escape of code point {:#x} is not a character.", code);
  }
  append_utf8(out, char32_t(code));
  return {};
}

}  // namespace

Result<std::string> resolve_escapes(std::string_view body) {
  std::string out;
  for (size_t i = 0; i < body.size();) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      out += body[i++];
      continue;
    }
    const char c = body[i + 1];
    const char* first = body.data() + i + 1;
    const char* last = body.data() + body.size();
    uint32_t code = 0;
    if (c == '\n') {  // a line continued
      i += 2;
    } else if (const char plain = simple_escape(c); plain != '\0') {
      out += plain;
      i += 2;
    } else if (c >= '0' && c <= '7') {
      const auto read = std::from_chars(first, std::min(first + 3, last), code, 8);
      TOK_TRY(append_code(out, code));
      i += 1 + size_t(read.ptr - first);
    } else if (const size_t digits = hex_digits(c); digits > 0) {
      const size_t left = size_t(last - first) - 1;
      const auto read = std::from_chars(first + 1, first + 1 + std::min(digits, left), code, 16);
      if (size_t(read.ptr - first) != digits + 1) {
        return invalid_input("The escape \"\\{}\" needs {} hexadecimal digits.", c, digits);
      }
      TOK_TRY(append_code(out, code));
      i += 2 + digits;
    } else if (c == 'N') {
      return unsupported("The escape \"\\N\" by the name of a character is not supported.");
    } else {
      out += '\\';
      ++i;
    }
  }
  return out;
}

}  // namespace tokamak::jinja
