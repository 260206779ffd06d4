#include "memory/words.h"

#include <algorithm>
#include <unordered_set>

#include "base/hash.h"
#include "text/unicode/unicode.h"

namespace tokamak::memory {

std::vector<std::string> distinct_words(std::string_view text, size_t most) {
  const std::string lower = to_lower(repair_utf8(text));
  std::vector<std::string> words;
  std::unordered_set<std::string> seen;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && words.size() < most && seen.insert(word).second) words.push_back(word);
    word.clear();
  };
  for (std::string_view rest = lower; !rest.empty();) {
    const Utf8Char c = first_char(rest);
    // What joins words in Unicode separates them in the index.
    if (is_word(c.value) && c.value != '_') {
      word += rest.substr(0, c.bytes);
    } else {
      end_word();
    }
    rest.remove_prefix(c.bytes);
  }
  end_word();
  return words;
}

WordSet word_set(std::string_view text) {
  WordSet out;
  for (const std::string& word : distinct_words(text)) out.push_back(hash_bytes(std::span(word)));
  std::ranges::sort(out);
  return out;
}

double shared_words(const WordSet& one, const WordSet& other) {
  size_t shared = 0;
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
    if (*a == *b) {
      ++shared, ++a, ++b;
    } else {
      ++(*a < *b ? a : b);
    }
  }
  const size_t all = one.size() + other.size() - shared;
  return all == 0 ? 1 : double(shared) / double(all);
}

}  // namespace tokamak::memory
