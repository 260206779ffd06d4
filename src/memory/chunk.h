// A text in chunks: what is found as one. They overlap or touch, so that they are the whole text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/embedder.h"

namespace tokamak::memory {

struct ChunkSizes {
  size_t tokens = 256;  // most that one has
  size_t overlap = 32;  // most that it has of the one before it, in whole sentences
};

struct Chunk {
  size_t start, stop;  // bytes of the text
  size_t tokens;
};

/// Cut at headings, blank lines and ends of sentences, in that order, once a chunk is half full; a
/// section that begins has nothing of the one before it. Blocks of code and rows of tables are cut
/// only where they do not fit. REQUIRES: sizes.tokens >= 1, `text` is UTF-8.
Result<std::vector<Chunk>> chunks_of(std::string_view text, const CountTokens& count,
                                     const ChunkSizes& sizes);

}  // namespace tokamak::memory
