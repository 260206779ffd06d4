// The part of a weight, or of a row, that a rank has: one of several devices that run a model
// together. Every rank has as many rows; where they do not come out even, zeros follow.
#pragma once
#include <cstdint>

namespace tokamak {

/// Rank r has `each` rows from row r / share * group + r % share * step on, as far as they are in
/// its group of `group` rows, and the group in the `total`.
///
/// Ranks that share a group have the same rows where `step` is 0 (the keys of attention with fewer
/// heads for them than ranks), and else follow one another in it (the queries of those heads).
struct RankCut {
  uint32_t each = 0;  // 0: every rank has all
  uint32_t group = 0;
  uint32_t share = 1;
  uint32_t step = 0;
  uint32_t total = 0;
  bool operator==(const RankCut&) const = default;

  bool is_whole() const { return each == 0; }
  /// The first row of a rank.
  uint64_t first(uint32_t rank) const {
    return uint64_t{rank / share} * group + uint64_t{rank % share} * step;
  }
  /// The end of those that are there: first(rank) where there are none.
  uint64_t end(uint32_t rank) const;
  /// The same cut of things of which each has `unit` rows.
  RankCut times(uint32_t unit) const {
    return {each * unit, group * unit, share, step * unit, total * unit};
  }
};

/// All rows, for the first rank; zeros for the others.
inline RankCut only_first(uint32_t rows) {
  return {.each = rows, .group = rows, .total = rows};
}

struct TensorDesc;

/// The constant as that rank has it: its parts are those rows and columns of the checkpoint.
TensorDesc of_rank(const TensorDesc& constant, uint32_t rank);

}  // namespace tokamak
