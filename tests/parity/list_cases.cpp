// The list of the most probable tokens: what is a candidate, ties, blocks of every kind.
#include <functional>
#include <limits>
#include <random>

#include "cases.h"

namespace tokamak::parity {
namespace {

/// Numbers of columns and blocks must be exact, and are the largest numbers in a result.
constexpr double kSums = 2e-6;

using Value = std::function<float(uint32_t column, std::mt19937& random)>;

float spread(std::mt19937& random) {
  return std::uniform_real_distribution<float>(-6, 6)(random);
}

float even(uint32_t, std::mt19937& random) {
  return spread(random);
}

/// Few different values: the lowest column of equals comes first, also across blocks.
float tied(uint32_t, std::mt19937& random) {
  const auto value = float(random() % 3);
  return value == 0 && random() % 2 == 0 ? -0.0f : value;
}

/// Most columns are no candidates.
float broken(uint32_t, std::mt19937& random) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {kNan, -kNan, -kInf, std::numeric_limits<float>::lowest(), kNan};
  const uint32_t kind = uint32_t(random()) % 50;
  return kind == 0 ? spread(random) : values[kind % 5];
}

/// Infinite somewhere, which the sum says.
float infinite(uint32_t column, std::mt19937& random) {
  return column == 1 ? std::numeric_limits<float>::infinity() : spread(random);
}

/// The best are neighbours, all of them in a block or two.
float crowded(uint32_t column, std::mt19937& random) {
  return spread(random) + (column / 200 == 1 ? 20.0f : 0.0f);
}

template <typename Last>
Case list_case(uint32_t columns, const char* kind, const Value& value) {
  CaseBuilder b(fmt::format("{} of {} {}", Last::kName, columns, kind));
  std::mt19937 random(columns);
  std::vector<float> table;
  for (uint32_t row = 0; row < kVocab; ++row) {
    for (uint32_t i = 0; i < columns; ++i) table.push_back(value(i, random));
  }
  const ValueId weights = b.constant("x", {kVocab, Dim{columns}}, table);
  const ValueId x = b.graph().embed(b.tokens(), weights);
  const auto node = [&](const Op& op, const std::vector<ValueId>& inputs) {
    return b.graph().add_node(op, inputs).front();
  };
  ValueId y = node(BlockPeaks{}, {x});
  if constexpr (!std::is_same_v<Last, BlockPeaks>) {
    const ValueId peaks = y;
    y = node(BestBlocks{}, {peaks});
    if constexpr (std::is_same_v<Last, TopTokens>) y = node(TopTokens{}, {x, peaks, y});
  }
  return b.finish(y, {1, {1, 1}}, kSums);
}

template <typename Last>
std::vector<Case> cases() {
  std::vector<Case> all;
  // Less than a block, fewer blocks than there are tokens in a list, more, blocks of 16, 32 and 64.
  for (const uint32_t columns : {1u, 15u, 131u, 2049u, 5000u, 33000u, 70001u}) {
    all.push_back(list_case<Last>(columns, "even", even));
  }
  for (const uint32_t columns : {40u, 3000u, 33000u}) {
    all.push_back(list_case<Last>(columns, "tied", tied));
    all.push_back(list_case<Last>(columns, "broken", broken));
    all.push_back(list_case<Last>(columns, "infinite", infinite));
  }
  all.push_back(list_case<Last>(3000, "no candidates",
                                [](auto...) { return std::numeric_limits<float>::quiet_NaN(); }));
  for (const uint32_t columns : {5000u, 40000u}) {
    all.push_back(list_case<Last>(columns, "crowded", crowded));
  }
  return all;
}

}  // namespace

std::vector<Case> block_peaks_cases() {
  return cases<BlockPeaks>();
}

std::vector<Case> best_blocks_cases() {
  return cases<BestBlocks>();
}

/// And the largest vocabulary in use.
std::vector<Case> top_tokens_cases() {
  std::vector<Case> all = cases<TopTokens>();
  all.push_back(list_case<TopTokens>(262144, "even", even));
  return all;
}

}  // namespace tokamak::parity
