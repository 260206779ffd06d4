// Grapheme clusters: what readers take for one character (UAX #29), such as a letter with its
// accents or an emoji made of several.
#pragma once
#include <cstddef>
#include <string_view>

namespace tokamak {

/// Returns the longest beginning of `text` of at most `bytes` bytes that does not end within a
/// cluster, or within a character where the first cluster is longer. REQUIRES: valid UTF-8.
std::string_view cluster_prefix(std::string_view text, size_t bytes);

/// The bytes of the first cluster. REQUIRES: valid UTF-8, not empty.
size_t first_cluster(std::string_view text);

}  // namespace tokamak
