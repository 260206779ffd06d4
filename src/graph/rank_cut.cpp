#include "graph/rank_cut.h"

#include <algorithm>

#include "base/check.h"
#include "graph/graph.h"

namespace tokamak {

uint64_t RankCut::end(uint32_t rank) const {
  const uint64_t begin = first(rank), group_end = (uint64_t{rank / share} + 1) * group;
  return std::max(begin, std::min({begin + each, group_end, uint64_t{total}}));
}

namespace {

/// `row`: the part's first among those of the rank.
void resolve_rows(auto& part, uint32_t row, uint32_t rank) {
  const RankCut cut = std::exchange(part.cut, {});
  if (cut.is_whole()) return;
  TOK_CHECK(part.rows != 0);
  const uint64_t begin = cut.first(rank) + row, end = cut.end(rank);
  const uint64_t there = std::clamp<uint64_t>(end, begin, begin + part.rows) - begin;
  part.zeros = part.rows - uint32_t(there);
  part.first_row += there == 0 ? 0 : uint32_t(begin);
}

void resolve_columns(auto& recipe, uint32_t rank) {
  const RankCut cut = std::exchange(recipe.column_cut, {});
  if (cut.is_whole()) return;
  const uint64_t begin = cut.first(rank), end = cut.end(rank);
  recipe.columns = {.first = end == begin ? 0 : uint32_t(begin),
                    .count = uint32_t(end - begin),
                    .whole = cut.total};
}

}  // namespace

TensorDesc of_rank(const TensorDesc& constant, uint32_t rank) {
  TensorDesc own = constant;
  if (auto* weight = std::get_if<Weight>(&own.recipe)) {
    for (WeightPart& part : weight->parts) {
      resolve_rows(part, std::exchange(part.cut_row, 0), rank);
    }
    resolve_columns(*weight, rank);
  } else if (auto* stack = std::get_if<LoraStack>(&own.recipe)) {
    for (LoraPart& part : stack->parts) resolve_rows(part, 0, rank);
    resolve_columns(*stack, rank);
  }
  return own;
}

}  // namespace tokamak
