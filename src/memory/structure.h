// The places where a text may be cut: headings, paragraphs, sentences, code, rows of tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tokamak::memory {

/// How good a place to cut is, from bad to good.
enum class Cut : uint8_t { kWord, kSentence, kParagraph, kHeading };

/// A part of a text that is not cut if it fits, with the blanks and line ends after it.
struct Piece {
  size_t start, stop;  // bytes
  Cut before;
};

/// Markdown, or any text: the pieces one after the other are all of it.
std::vector<Piece> pieces_of(std::string_view text);

/// The parts of a piece that is too large: lines where it has several, else sentences, else words,
/// else halves. At least two. REQUIRES: at least two characters.
std::vector<Piece> parts_of(std::string_view text, const Piece& piece);

/// The end of the sentence that begins at `at`, with the blanks after it.
size_t sentence_end(std::string_view text, size_t at);

}  // namespace tokamak::memory
