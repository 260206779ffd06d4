#include "base/nearest.h"

#include <algorithm>
#include <vector>

#include "base/result.h"

namespace tokamak {
namespace {

/// Levenshtein's distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, exchanged});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  size_t least = SIZE_MAX;
  for (const std::string_view candidate : known) {
    if (word.size() > 2 * candidate.size()) continue;  // too far, however long the word is
    const size_t here = distance(word, candidate);
    if (here >= least || 3 * here > candidate.size()) continue;
    least = here;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view best = nearest_word(word, known);
  return best.empty() ? "" : fmt::format(" (did you mean {}?)", best);
}

}  // namespace tokamak
