#include <utf8proc.h>

#include "base/utf8.h"
#include "text/unicode/clusters.h"

namespace tokamak {

std::string_view cluster_prefix(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t whole = 0;  // the end of the last whole cluster
  utf8proc_int32_t state = 0;
  char32_t last = 0;
  for (size_t at = 0; at <= bytes;) {
    const Utf8Char c = first_char(text.substr(at));
    const bool begins = at > 0 && utf8proc_grapheme_break_stateful(
                                      utf8proc_int32_t(last), utf8proc_int32_t(c.value), &state);
    if (begins) whole = at;
    last = c.value;
    at += c.bytes;
  }
  return whole > 0 ? text.substr(0, whole) : utf8_prefix(text, bytes);
}

size_t first_cluster(std::string_view text) {
  Utf8Char c = first_char(text);
  utf8proc_int32_t state = 0;
  for (size_t at = c.bytes; at < text.size(); at += c.bytes) {
    const auto last = utf8proc_int32_t(c.value);
    c = first_char(text.substr(at));
    if (utf8proc_grapheme_break_stateful(last, utf8proc_int32_t(c.value), &state)) return at;
  }
  return text.size();
}

}  // namespace tokamak
