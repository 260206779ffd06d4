#include "graph/rank_cut.h"

#include <algorithm>

#include "base/check.h"
#include "graph/graph.h"

namespace tokamak {

uint64_t RankCut::end(uint32_t rank) const {
  const uint64_t begin = first(rank), group_end = (uint64_t{rank / share} + 1) * group;
  return std::max(begin, std::min({begin + each, group_end, uint64_t{total}}));
}

TensorDesc of_rank(const TensorDesc& constant, uint32_t rank) {
  TensorDesc own = constant;
  auto* weight = std::get_if<Weight>(&own.recipe);
  if (weight == nullptr) return own;
  for (WeightPart& part : weight->parts) {
    const RankCut cut = std::exchange(part.cut, {});
    if (cut.is_whole()) continue;
    TOK_CHECK(part.rows != 0);
    const uint64_t begin = cut.first(rank) + part.cut_row, end = cut.end(rank);
    const uint64_t there = std::clamp<uint64_t>(end, begin, begin + part.rows) - begin;
    part.zeros = part.rows - uint32_t(there);
    part.first_row += there == 0 ? 0 : uint32_t(begin);
    part.cut_row = 0;
  }
  const RankCut columns = std::exchange(weight->column_cut, {});
  if (columns.is_whole()) return own;
  const uint64_t begin = columns.first(rank), end = columns.end(rank);
  weight->columns = {.first = end == begin ? 0 : uint32_t(begin),
                     .count = uint32_t(end - begin),
                     .whole = columns.total};
  return own;
}

}  // namespace tokamak
