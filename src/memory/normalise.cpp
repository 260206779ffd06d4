#include "memory/normalise.h"

#include "text/unicode/unicode.h"

namespace tokamak::memory {
namespace {

bool is_line_end(char32_t c) {
  return c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfeff;
}

}  // namespace

std::string normalise(std::string_view bytes) {
  const std::string whole = to_normal_form(repair_utf8(bytes), NormalForm::kNfc);
  std::string out;
  out.reserve(whole.size());
  for (std::string_view rest = whole; !rest.empty();) {
    const Utf8Char c = first_char(rest);
    if (rest.starts_with("\r\n")) {
      // The \n that follows is the line end.
    } else if (is_line_end(c.value)) {
      out += '\n';
    } else if (c.value == '\t' || !is_control(c.value)) {
      out += rest.substr(0, c.bytes);
    }
    rest.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace tokamak::memory
