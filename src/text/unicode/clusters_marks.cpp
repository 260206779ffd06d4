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

}  // namespace tokamak
