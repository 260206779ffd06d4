#include "memory/words.h"

#include <algorithm>
#include <unordered_set>

#include "base/hash.h"
#include "text/unicode/unicode.h"

namespace tokamak::memory {

namespace {

struct Range {
  char32_t first, last;
};

constexpr Range kUnspaced[] = {
    {0x0e00, 0x0eff},    // Thai, Lao
    {0x1000, 0x109f},    // Myanmar
    {0x1100, 0x11ff},    // Hangul Jamo
    {0x1780, 0x17ff},    // Khmer
    {0x1950, 0x19df},    // Tai Le, New Tai Lue
    {0x2e80, 0x2fdf},    // radicals
    {0x3005, 0x3007},    // marks that stand for ideographs
    {0x3021, 0x31ff},    // Hiragana, Katakana, Bopomofo, Hangul
    {0x3400, 0x4dbf},    // Han
    {0x4e00, 0x9fff},    //
    {0xa960, 0xa97f},    // Hangul
    {0xac00, 0xd7ff},    //
    {0xf900, 0xfaff},    // Han
    {0x1b000, 0x1b16f},  // Kana
    {0x20000, 0x323af},  // Han
};

bool is_unspaced(char32_t c) {
  const auto* const found = std::ranges::lower_bound(kUnspaced, c, {}, &Range::last);
  return found != std::end(kUnspaced) && c >= found->first && !is_numeric(c);
}

/// Calls `take` for each word, and `take_one` for each character of a script without spaces that is
/// none, both in the order of the text. A character has its combining marks with it.
template <typename Take, typename TakeOne>
void each_word(std::string_view text, const Take& take, const TakeOne& take_one) {
  // Wide and narrow forms are the same words.
  const std::string lower = to_lower(to_normal_form(repair_utf8(text), NormalForm::kNfkc));
  std::string word;                        // of a script with spaces
  std::vector<std::string_view> unspaced;  // characters of one without
  const auto end_word = [&] {
    if (!word.empty()) take(word);
    word.clear();
    for (size_t i = 0; i < unspaced.size(); ++i) {
      if (unspaced.size() > 1) take_one(unspaced[i]);
      if (i > 0) take(std::string(unspaced[i - 1]).append(unspaced[i]));
    }
    if (unspaced.size() == 1) take(std::string(unspaced[0]));
    unspaced.clear();
  };
  for (std::string_view rest = lower; !rest.empty();) {
    const Utf8Char c = first_char(rest);
    const std::string_view bytes = rest.substr(0, c.bytes);
    rest.remove_prefix(c.bytes);
    // A joiner of words in Unicode separates them in the index.
    if (!is_word(c.value) || c.value == '_') {
      end_word();
    } else if (is_combining_mark(c.value) && !unspaced.empty()) {
      unspaced.back() = {unspaced.back().data(), unspaced.back().size() + bytes.size()};
    } else if (is_unspaced(c.value)) {
      if (!word.empty()) end_word();
      unspaced.push_back(bytes);
    } else {
      if (!unspaced.empty()) end_word();
      word += bytes;
    }
  }
  end_word();
}

}  // namespace

std::string index_text(std::string_view text) {
  std::string out;
  const auto add = [&](std::string_view word) { out.append(word).append(" "); };
  each_word(text, add, add);
  return out;
}

std::vector<std::string> distinct_words(std::string_view text, size_t most) {
  std::vector<std::string> words;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& word) {
    if (words.size() < most && seen.insert(word).second) words.push_back(word);
  };
  each_word(text, add, [](std::string_view) {});
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
