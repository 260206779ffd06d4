// The norm that follows a sum over ranks.
//
//   sum  = all_reduce x, r                sum, norm = all_reduce_norm x, r, w
//   norm = rms_norm sum, w        ==>
//
// For steps of several rows: of one token, the products normalize as they begin. Saves a dispatch
// and a round trip of `sum`.
#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, r, w, sum, norm };

/// Columns of a row that a workgroup holds.
constexpr int64_t kMaxColumns = 16384;

std::optional<Replacement> replace(Match& m) {
  const int64_t columns = m.type(sum).shape[1];
  if (m.type(w).shape[0] != columns || columns > kMaxColumns || columns % 4 != 0) {
    return std::nullopt;
  }
  const auto& own = m.attributes<AllReduce>(sum);
  return Replacement{AllReduceNorm{.ranks = own.ranks,
                                   .parts = own.parts,
                                   .last = own.last,
                                   .eps = m.attributes<RmsNorm>(norm).eps},
                     {m[x], m[r], m[w]}};
}

}  // namespace

Pass reduce_norm() {
  return {.name = "reduce_norm",
          .patterns = {{node<RmsNorm>(norm, {node<AllReduce>(sum, {any(x), any(r)}), any(w)})}},
          .outputs = {sum, norm},
          .steps = Steps::kShort,
          .fewest = Steps::kDecode,
          .replace = replace};
}

}  // namespace tokamak::fuse
