#include "compile/shard_rows.h"

#include <algorithm>
#include <numeric>

namespace tokamak {
namespace {

/// Ends the names of constants that are cut: another graph may have them whole.
constexpr std::string_view kSuffix = "/ranks";

/// A part and the first of the constant's rows that it has.
struct Place {
  size_t part;
  uint32_t begin, count;
};

Place place_of(const std::vector<WeightPart>& parts, uint32_t rows, uint32_t row) {
  uint32_t begin = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const uint32_t count = parts[p].rows == 0 ? rows : parts[p].rows;
    if (row < begin + count) return {p, begin, count};
    begin += count;
  }
  return {parts.size(), begin, 0};
}

/// The distance of the first of those parts, each of which has the same number of rows of a tensor;
/// 0 where they lie elsewhere.
uint32_t distance_of(std::span<const WeightPart> parts) {
  const WeightPart& first = parts.front();
  if (parts.size() < 2 || parts[1].first_row < first.first_row) return 0;
  const uint32_t distance = parts[1].first_row - first.first_row;
  for (size_t i = 0; i < parts.size(); ++i) {
    WeightPart expected = first;
    expected.first_row += uint32_t(i) * distance;
    if (parts[i] != expected) return 0;
  }
  return distance >= first.rows ? distance : 0;
}

/// A rank's part of the rows from `begin` on; empty where it cannot be read.
std::vector<WeightPart> rank_parts(const std::vector<WeightPart>& parts, uint32_t rows,
                                   uint32_t begin, const RankCut& cut) {
  const Place place = place_of(parts, rows, begin);
  if (place.part == parts.size()) return {};
  WeightPart own = parts[place.part];
  own.cut = cut;
  if (begin + cut.total <= place.begin + place.count) {  // within one
    own.first_row += begin - place.begin;
    own.rows = cut.each;
    return {own};
  }
  const uint32_t heads = cut.total / place.count;
  const auto is_whole = [&](uint32_t count) { return count % place.count == 0; };
  if (begin != place.begin || !is_whole(cut.total) || !is_whole(cut.each) || !is_whole(cut.group) ||
      !is_whole(cut.step) || place.part + heads > parts.size()) {
    return {};
  }
  const uint32_t distance = distance_of(std::span(parts).subspan(place.part, heads));
  if (distance == 0) return {};
  const RankCut by_heads = {.each = cut.each / place.count,
                            .group = cut.group / place.count,
                            .share = cut.share,
                            .step = cut.step / place.count,
                            .total = heads};
  own.cut = by_heads.times(distance);
  std::vector<WeightPart> all(by_heads.each, own);
  for (uint32_t head = 0; head < by_heads.each; ++head) all[head].cut_row = head * distance;
  return all;
}

std::vector<WeightPart> rank_parts(const TensorDesc& constant, const RankCuts& cuts) {
  const auto& weight = std::get<Weight>(constant.recipe);
  if (weight.parts.size() > 1 && weight.order != RowOrder::kConcat) return {};
  std::vector<WeightPart> all;
  uint32_t begin = 0;
  for (const RankCut& cut : cuts) {
    const auto own = rank_parts(weight.parts, uint32_t(constant.shape[0]), begin, cut);
    if (own.empty()) return {};
    all.insert(all.end(), own.begin(), own.end());
    begin += cut.total;
  }
  return all;
}

/// Rows of one tensor, or of one for each expert.
bool has_experts_rows(const Weight& weight, uint32_t rows, uint32_t experts) {
  return weight.parts.size() == 1 ||
         (weight.parts.size() == experts && weight.order == RowOrder::kConcat &&
          std::ranges::all_of(weight.parts, [&](const WeightPart& part) {
            return part.rows == 0 || part.rows == rows;
          }));
}

void cut_experts(Weight& weight, const RankCut& cut, uint32_t experts) {
  if (weight.parts.size() == 1) {
    weight.parts.assign(experts, WeightPart(weight.parts.front()));
    for (uint32_t e = 0; e < experts; ++e) weight.parts[e].first_row += e * cut.total;
    weight.order = RowOrder::kConcat;
  }
  for (WeightPart& part : weight.parts) {
    part.rows = cut.each;
    part.cut = cut;
  }
}

/// A rank's part of the rows of every adapter; empty where it cannot be read.
std::vector<LoraPart> rank_parts(const LoraStack& stack, const RankCuts& cuts) {
  const uint32_t rows = total_of(cuts);
  std::vector<LoraPart> all;
  for (size_t p = 0; p < stack.parts.size();) {
    auto cut = cuts.begin();
    uint32_t first = 0, end = 0, begin = 0;  // of the part, and of the cut's rows
    for (; p < stack.parts.size() && end < rows; ++p) {
      const LoraPart& part = stack.parts[p];
      first = std::exchange(end, end + part.rows);
      for (; cut != cuts.end() && begin < end; ++cut) {
        if (begin + cut->total > end) return {};
        LoraPart& own = all.emplace_back(part);
        own.first_row += begin - first;
        own.rows = cut->each;
        if (!own.tensor.empty()) own.cut = *cut;
        begin += cut->total;
      }
    }
    if (end != rows || cut != cuts.end()) return {};
  }
  return all;
}

}  // namespace

uint32_t total_of(const RankCuts& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), 0u,
                         [](uint32_t sum, const RankCut& cut) { return sum + cut.total; });
}

uint32_t each_of(const RankCuts& cuts) {
  return std::accumulate(cuts.begin(), cuts.end(), 0u,
                         [](uint32_t sum, const RankCut& cut) { return sum + cut.each; });
}

bool can_cut_rows(const TensorDesc& constant, const RankCuts& cuts, uint32_t experts) {
  if (uint64_t(constant.shape[0]) != uint64_t{experts} * total_of(cuts)) return false;
  if (std::holds_alternative<Fill>(constant.recipe)) return true;
  const auto* weight = std::get_if<Weight>(&constant.recipe);
  if (weight == nullptr) return false;
  if (experts == 1) return !rank_parts(constant, cuts).empty();
  return cuts.size() == 1 && has_experts_rows(*weight, cuts.front().total, experts);
}

bool can_cut_adapters(const TensorDesc& constant, const RankCuts& cuts) {
  const auto* stack = std::get_if<LoraStack>(&constant.recipe);
  return stack != nullptr && !rank_parts(*stack, cuts).empty();
}

void cut_rows(TensorDesc& constant, const RankCuts& cuts, uint32_t experts) {
  if (auto* stack = std::get_if<LoraStack>(&constant.recipe)) {
    stack->parts = rank_parts(*stack, cuts);
  } else if (auto* weight = std::get_if<Weight>(&constant.recipe)) {
    if (experts == 1) {
      weight->parts = rank_parts(constant, cuts);
      if (weight->parts.size() > 1) weight->order = RowOrder::kConcat;
    } else {
      cut_experts(*weight, cuts.front(), experts);
    }
  }
  constant.name += kSuffix;
  constant.shape[0] = Dim{experts} * Dim{each_of(cuts)};
}

void cut_columns(TensorDesc& constant, const RankCut& cut) {
  constant.name += kSuffix;
  constant.shape[1] = cut.each;
  if (auto* stack = std::get_if<LoraStack>(&constant.recipe)) {
    stack->column_cut = cut;
  } else {
    std::get<Weight>(constant.recipe).column_cut = cut;
  }
}

}  // namespace tokamak
