// A piece of attention: some rows of one sequence, one key head and a range of keys.
#pragma once
#include <span>
#include <vector>

#include "kernels/cpu/attention.h"

namespace tokamak {

/// Keys that are looked at together. Blocks of them begin at multiples of this, wherever a piece
/// begins, so that a row's sums are the same beside whatever rows.
inline constexpr size_t kAttentionKeys = 64;
/// Rows of keys, values and sums are filled up with zeros to a multiple of this many elements.
inline constexpr size_t kAttentionWidth = 16;
/// From that many queries on a lane is a query; of fewer, a lane is an element or a key.
inline constexpr size_t kMinTileQueries = 8;
/// The largest score of a query before its first.
inline constexpr float kLowestScore = -3e38f;

struct AttentionPiece {
  size_t first_row = 0, rows = 0, kv_head = 0;
  size_t begin = 0, end = 0;  // positions of any of the rows
  size_t part = 0;
};

struct AttentionTask {
  const AttentionWork& work;
  std::span<const AttentionRow> rows;  // of all pieces
  const AttentionPiece& piece;

  size_t group() const { return work.heads / work.cache->dims[2]; }
  size_t queries() const { return piece.rows * group(); }
  size_t width() const { return round_up(head_dim_of(*work.cache), kAttentionWidth); }
  const AttentionRow& row(size_t query) const { return rows[piece.first_row + query / group()]; }
  size_t head(size_t query) const { return piece.kv_head * group() + query % group(); }
  std::span<const uint32_t> pages() const { return rows[piece.first_row].pages; }

  const float* query(size_t q) const { return row(q).queries + head(q) * head_dim_of(*work.cache); }
  /// The end of the block that begins at `begin`.
  size_t block_end(size_t begin) const {
    return std::min(piece.end, (begin / kAttentionKeys + 1) * kAttentionKeys);
  }
};

/// Sums so far of each query of a piece, [row][query head of the key head].
struct Running {
  /// Sums of no keys. There is room for a multiple of kAttentionWidth queries.
  Running(size_t queries, size_t width)
      : sums(round_up(queries, kAttentionWidth) * width, 0.0f),
        largest(round_up(queries, kAttentionWidth), kLowestScore),
        total(round_up(queries, kAttentionWidth), 0.0f) {}

  std::vector<float> sums;  // [query][width]
  std::vector<float> largest, total;
};

/// Adds the keys and values of a piece: of few queries at the speed of the cache, or of many.
void attend_few(const AttentionTask& task, Running& running);
void attend_tiles(const AttentionTask& task, Running& running);

}  // namespace tokamak
