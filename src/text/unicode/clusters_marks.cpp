// Clusters for the browser's modules, which have no table of them: letters with their marks.
#include "text/unicode/clusters.h"
#include "text/unicode/unicode.h"

namespace tokamak {

std::string_view cluster_prefix(std::string_view text, size_t bytes) {
  const std::string_view whole = utf8_prefix(text, bytes);
  size_t end = whole.size();
  while (end > 0 && end < text.size() && is_combining_mark(first_char(text.substr(end)).value)) {
    end -= last_char(text.substr(0, end)).bytes;
  }
  return end > 0 ? text.substr(0, end) : whole;
}

size_t first_cluster(std::string_view text) {
  size_t at = first_char(text).bytes;
  while (at < text.size()) {
    const auto next = first_char(text.substr(at));
    if (!is_combining_mark(next.value)) break;
    at += next.bytes;
  }
  return at;
}

}  // namespace tokamak
