#include "memory/chunk.h"

#include <algorithm>

#include "base/utf8.h"
#include "memory/structure.h"

namespace tokamak::memory {
namespace {

struct Counted {
  Piece piece;
  size_t tokens;
};

class Chunker {
 public:
  Chunker(std::string_view text, const CountTokens& count, const ChunkSizes& sizes)
      : text_(text), count_(count), sizes_(sizes) {}

  Result<std::vector<Chunk>> run() {
    for (const Piece& piece : pieces_of(text_)) TOK_TRY(take(piece));
    std::vector<Chunk> chunks;
    size_t first = 0, done = 0;  // pieces; those before `done` are in a chunk
    while (done < pieces_.size()) {
      TOK_TRY(size_t last, full(first, done));
      if (last < pieces_.size()) last = best_cut(first, done, last);
      TOK_TRY(const size_t tokens, count(first, last));
      chunks.push_back({pieces_[first].piece.start, pieces_[last - 1].piece.stop, tokens});
      done = last;
      first = done < pieces_.size() ? overlap_start(first, done) : done;
    }
    return chunks;
  }

 private:
  /// Adds a piece, in parts where it does not fit.
  Result<void> take(const Piece& piece) {
    const std::string_view own = text_.substr(piece.start, piece.stop - piece.start);
    TOK_TRY(const size_t tokens, count_(own));
    if (tokens <= sizes_.tokens || first_char(own).bytes == own.size()) {
      pieces_.push_back({piece, tokens});
      return {};
    }
    for (const Piece& part : parts_of(text_, piece)) TOK_TRY(take(part));
    return {};
  }

  Result<size_t> count(size_t first, size_t last) const {
    const size_t start = pieces_[first].piece.start;
    return count_(text_.substr(start, pieces_[last - 1].piece.stop - start));
  }

  /// The end of what fits from `first`, at least one piece more than was done.
  Result<size_t> full(size_t first, size_t done) const {
    size_t last = first, sum = 0;
    while (last < pieces_.size() && (last <= done || sum + pieces_[last].tokens <= sizes_.tokens)) {
      sum += pieces_[last++].tokens;
    }
    // Together they may make more tokens than one by one.
    for (; last > done + 1; --last) {
      TOK_TRY(const size_t tokens, count(first, last));
      if (tokens <= sizes_.tokens) break;
    }
    return last;
  }

  /// The best place to cut before `last`, once the chunk is half full; of equals the later one.
  size_t best_cut(size_t first, size_t done, size_t last) const {
    size_t best = last, sum = 0;
    for (size_t cut = first + 1; cut < last; ++cut) {
      sum += pieces_[cut - 1].tokens;
      if (cut <= done || 2 * sum < sizes_.tokens) continue;
      const Cut own = pieces_[cut].piece.before, other = pieces_[best].piece.before;
      if (own > other || (own == other && best != last)) best = cut;
    }
    return best;
  }

  size_t overlap_start(size_t first, size_t done) const {
    if (pieces_[done].piece.before == Cut::kHeading) return done;
    size_t start = done, sum = 0;
    while (start > first + 1) {
      sum += pieces_[start - 1].tokens;
      if (sum > sizes_.overlap || sum + pieces_[done].tokens > sizes_.tokens) break;
      --start;
      if (pieces_[start].piece.before == Cut::kHeading) break;
    }
    return start;
  }

  std::string_view text_;
  const CountTokens& count_;
  const ChunkSizes& sizes_;
  std::vector<Counted> pieces_;
};

}  // namespace

Result<std::vector<Chunk>> chunks_of(std::string_view text, const CountTokens& count,
                                     const ChunkSizes& sizes) {
  return Chunker(text, count, sizes).run();
}

}  // namespace tokamak::memory
