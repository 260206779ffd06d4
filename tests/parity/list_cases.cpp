// The list of the most probable tokens: what is a candidate, ties, blocks of every kind; and what
// is drawn from it.
#include <algorithm>
#include <cmath>
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

/// `masked`: only columns whose bit the noise has in what may follow count.
template <typename Last>
Case list_case(uint32_t columns, const char* kind, const Value& value, bool masked = false) {
  CaseBuilder b(fmt::format("{} of {} {}{}", Last::kName, columns, kind, masked ? ", masked" : ""));
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
  const ValueId allowed = b.graph().sampled("allowed", {token_words(Dim{columns})}, DType::kU32);
  ValueId y = node(BlockMaxima{}, {x, allowed});
  if constexpr (!std::is_same_v<Last, BlockMaxima>) {
    const ValueId maxima = y;
    y = node(TopKBlocks{}, {maxima});
    if constexpr (std::is_same_v<Last, TopKTokens>) y = node(TopKTokens{}, {x, maxima, y, allowed});
  }
  Case c = b.finish(y, {1, {1, 1}}, kSums);
  c.rule.masked = masked ? 1 : 0;
  return c;
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
  for (const uint32_t columns : {1u, 131u, 5000u, 70001u}) {
    all.push_back(list_case<Last>(columns, "even", even, true));
  }
  all.push_back(list_case<Last>(3000, "infinite", infinite, true));
  return all;
}

/// A list of `listed` tokens, more than one in places of equal logits, with `pairs` places.
std::vector<float> list_of(uint32_t pairs, uint32_t listed, float others, std::mt19937& random) {
  std::vector<float> list, logits;
  for (uint32_t i = 0; i < listed; ++i) logits.push_back(std::round(4 * spread(random)) / 4);
  std::ranges::sort(logits, std::greater());
  float sum = others;
  for (uint32_t i = 0; i < pairs; ++i) {
    const bool is_listed = i < listed;
    list.push_back(is_listed ? logits[i] : std::numeric_limits<float>::lowest());
    list.push_back(is_listed ? float(7 * i + 3) : -1.0f);
    if (is_listed) sum += std::exp(logits[i] - logits[0]);
  }
  list.push_back(sum);
  return list;
}

struct SampledList {
  const char* name;
  SamplingRule rule;
  uint32_t pairs, listed;
  float others = 0;  // of the sum, what is not listed
};
// Logits are multiples of a quarter. No penalty makes one of them another, of which only rounding
// would tell the order: devices round quotients as they like.
const SampledList kSampled[] = {
    {"of one", {}, 1, 1},
    {"of none", {}, 5, 0},
    {"of a few", {}, 5, 3},
    {"of many", {}, kTopK, kTopK},
    {"that is not listed, mostly", {}, 20, 20, 1000},
    {"at a low temperature", {.inverse_temperature = 3}, kTopK, kTopK},
    {"at a high temperature", {.inverse_temperature = 0.1f}, kTopK, kTopK},
    {"of the first and its equals", {.inverse_temperature = 0.1f, .top_k = 9}, 100, 100, 50},
    {"of more than there are", {.top_k = kTopK + 1}, 10, 10},
    {"by top_p", {.inverse_temperature = 0.3f, .top_p = 0.6f}, kTopK, kTopK},
    {"by a top_p of the first", {.top_p = 1e-6f}, kTopK, kTopK},
    {"by min_p", {.inverse_temperature = 0.2f, .min_p = 0.6f}, kTopK, kTopK, 9},
    {"by all rules",
     {.inverse_temperature = 0.2f, .top_k = 50, .top_p = 0.8f, .min_p = 0.3f},
     kTopK,
     kTopK,
     9},
    {"with a penalty", {.inverse_temperature = 0.5f, .repetition_penalty = 1.71f}, 60, 60},
    {"with a penalty, of the first", {.top_k = 1, .repetition_penalty = 1.23f}, kTopK, kTopK},
    {"with a penalty, by all rules",
     {.inverse_temperature = 0.2f,
      .top_k = 50,
      .top_p = 0.8f,
      .min_p = 0.3f,
      .repetition_penalty = 2.93f},
     kTopK,
     kTopK,
     9},
    {"with a penalty, of a few", {.repetition_penalty = 1.23f}, 5, 3},
    {"with a penalty, of none", {.repetition_penalty = 1.23f}, 5, 0},
};

/// Every step has the same random number, and a list of its own. What has occurred are the noise's
/// bits, and what the steps before have drawn.
Case sample_case(const SampledList& drawn, uint64_t state) {
  CaseBuilder b(fmt::format("sample_token {}, state {:x}", drawn.name, state));
  std::mt19937 random(drawn.pairs);
  std::vector<float> table;
  for (uint32_t row = 0; row < kVocab; ++row) {
    const std::vector<float> list = list_of(drawn.pairs, drawn.listed, drawn.others, random);
    table.insert(table.end(), list.begin(), list.end());
  }
  const Dim columns = 2 * Dim{drawn.pairs} + 1;
  const ValueId list = b.graph().embed(b.tokens(), b.constant("lists", {kVocab, columns}, table));
  const ValueId lists = b.graph().sampled("drawn", {1, columns + 1}, DType::kF32);
  const Shape words = {token_words(7 * Dim{drawn.pairs} + 3)};
  const ValueId occurred = b.graph().sampled("occurred", words, DType::kU32);
  const ValueId y = b.graph().add_node(SampleToken{}, {list, lists, occurred}).front();
  Case c = b.finish(y, {1, {1, 1, 1, 1}}, 0);
  c.rule = drawn.rule;
  c.rule.set_random(state);
  return c;
}

}  // namespace

std::vector<Case> block_maxima_cases() {
  return cases<BlockMaxima>();
}

std::vector<Case> topk_blocks_cases() {
  return cases<TopKBlocks>();
}

/// And the largest vocabulary in use.
std::vector<Case> topk_tokens_cases() {
  std::vector<Case> all = cases<TopKTokens>();
  all.push_back(list_case<TopKTokens>(262144, "even", even));
  return all;
}

std::vector<Case> sample_token_cases() {
  std::vector<Case> all;
  for (const SampledList& drawn : kSampled) {
    for (const uint64_t state : {0ull, 0xffffffffffffffffull, 0x123456789abcdefull, 3ull << 31}) {
      all.push_back(sample_case(drawn, state));
    }
  }
  return all;
}

}  // namespace tokamak::parity
