// The words of texts, as the index of a store has them: in lower case, without punctuation.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::memory {

/// More words than a question has; of a page that somebody pastes, the first ones count.
inline constexpr size_t kMaxWords = 64;

/// In the order of the text, each once, at most that many.
std::vector<std::string> distinct_words(std::string_view text, size_t most = SIZE_MAX);

/// The words of a text as ascending hashes.
using WordSet = std::vector<uint64_t>;
WordSet word_set(std::string_view text);

/// The share of all words of two texts that both have: 1 for the same words.
double shared_words(const WordSet& one, const WordSet& other);

}  // namespace tokamak::memory
