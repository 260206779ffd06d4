// The words of texts, as the index of a store has them: in lower case, without punctuation. Of
// scripts that are written without spaces between words (Chinese, Japanese, Thai, ...; also Korean,
// whose endings are written together with words) they are pairs of neighbouring characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::memory {

/// More words than a question has; of a page that somebody pastes, the first ones count.
inline constexpr size_t kMaxWords = 64;

/// Returns a text for the index: all words of the text with spaces between them, and of scripts
/// without spaces every character besides, so that questions of one character find it.
std::string index_text(std::string_view text);

/// Returns words in the order of the text, each once, at most that many.
std::vector<std::string> distinct_words(std::string_view text, size_t most = SIZE_MAX);

/// The words of a text as ascending hashes.
using WordSet = std::vector<uint64_t>;
WordSet word_set(std::string_view text);

/// The share of all words of two texts that both have: 1 for the same words.
double shared_words(const WordSet& one, const WordSet& other);

}  // namespace tokamak::memory
