// Ops in which the ranks of a model work together: devices that each have a part of its weights.
// The pass that cuts a graph makes them (compile/shard.h).
//
// Every rank runs the same graph on the same rows. All but what stands between a cut product and
// one of these ops has the same bits on every rank.
#pragma once
#include <cstdint>
#include <string_view>

namespace tokamak {

inline constexpr uint32_t kMaxRanks = 8;

/// y = r + the sum of every rank's x, in the order of the ranks, of each its parts one after the
/// other (SplitLinear). `last`: no rank goes on before all have read what it gave; where it is not
/// set, that is known at the next collective op.
///                                              (x [T, parts*n], r? [T, n]) -> [T, n]
struct AllReduce {
  static constexpr std::string_view kName = "all_reduce";
  uint32_t ranks = 1;
  uint32_t parts = 1;
  bool last = false;
  static void fields(auto& op, auto&& visit) {
    visit("ranks", op.ranks);
    visit("parts", op.parts);
    visit("last", op.last);
  }
  bool operator==(const AllReduce&) const = default;
};

/// The sum of all_reduce, and its rms_norm: one launch instead of two.
///                          (x [T, parts*n], r [T, n], w [n]) -> sum [T, n], norm [T, n]
struct AllReduceNorm {
  static constexpr std::string_view kName = "all_reduce_norm";
  uint32_t ranks = 1;
  uint32_t parts = 1;
  bool last = false;
  float eps = 0;
  static void fields(auto& op, auto&& visit) {
    visit("ranks", op.ranks);
    visit("parts", op.parts);
    visit("last", op.last);
    visit("eps", op.eps);
  }
  bool operator==(const AllReduceNorm&) const = default;
};

/// The columns of every rank's x, one rank after the other, as far as `columns` of them.
///                                              (x [T, n]) -> [T, columns]
struct AllGather {
  static constexpr std::string_view kName = "all_gather";
  uint32_t ranks = 1;
  uint32_t columns = 1;
  bool last = false;
  static void fields(auto& op, auto&& visit) {
    visit("ranks", op.ranks);
    visit("columns", op.columns);
    visit("last", op.last);
  }
  bool operator==(const AllGather&) const = default;
};

/// The rms_norm of whole rows of which every rank has some columns, of one value or of two in one
/// launch: ranks give each other the sums of squares of what they have. `columns` and
/// `other_columns`: those of all ranks together; what several have counts each time.
///                     (x [T, n], w [n], y? [T, m], v? [m]) -> norm of x [T, n], norm of y? [T, m]
struct AllNorm {
  static constexpr std::string_view kName = "all_norm";
  uint32_t ranks = 1;
  uint32_t columns = 1;
  uint32_t other_columns = 0;  // 0: there is no y
  float eps = 0;
  static void fields(auto& op, auto&& visit) {
    visit("ranks", op.ranks);
    visit("columns", op.columns);
    visit("other_columns", op.other_columns);
    visit("eps", op.eps);
  }
  bool operator==(const AllNorm&) const = default;
};

}  // namespace tokamak
