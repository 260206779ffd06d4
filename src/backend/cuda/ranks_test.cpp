// Sums over ranks that are CUDA devices: in these tests the emulator's, four of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "backend/cuda/device.h"
#include "backend/cuda/links.h"
#include "backend/group.h"
#include "base/bits.h"

namespace tokamak {
namespace {

constexpr uint32_t kRanks = 4, kVocab = 7;

/// Element i of a row of a table, whose columns the ranks have in their order.
float value(uint32_t row, size_t i) {
  return float((row * 31 + i * 7) % 13) - 6;
}

std::unique_ptr<Backend> open_ranks() {
  setenv("TOKAMAK_EMULATED_DEVICES", "4", 1);
  std::vector<std::unique_ptr<Backend>> ranks;
  for (uint32_t device = 0; device < kRanks; ++device) {
    auto rank = open_cuda_backend({.device = device});
    EXPECT_TRUE(rank) << rank.error().message;
    if (rank) ranks.push_back(*std::move(rank));
  }
  unsetenv("TOKAMAK_EMULATED_DEVICES");
  if (ranks.size() != kRanks) return nullptr;
  auto group = make_group(std::move(ranks));
  EXPECT_TRUE(group) << group.error().message;
  return group ? *std::move(group) : nullptr;
}

/// The rows of one table, of which each rank has some columns, and of another that all have.
struct Sum {
  Graph graph;
  ValueId part, residual;
};
Sum begin_sum(uint32_t columns) {
  Graph graph;
  const auto table = [&](std::string name, RankCut cut) {
    return TensorDesc{.name = name,
                      .shape = {kVocab, columns},
                      .dtype = DType::kF16,
                      .storage = Storage::kConstant,
                      .recipe = Weight{.parts = {name}, .column_cut = cut}};
  };
  graph.values = {
      {.name = "tokens", .shape = {kTokens}, .dtype = DType::kU32, .storage = Storage::kInput},
      table("parts", {.each = columns, .group = columns, .total = kRanks * columns}),
      table("residual", {}),
      {.name = {}, .shape = {kTokens, columns}},
      {.name = {}, .shape = {kTokens, columns}},
      {.name = {}, .shape = {kTokens, columns}},
      {.name = {}, .shape = {kTokens, columns}},
      {.name = "norm", .shape = {columns}, .storage = Storage::kConstant, .recipe = Fill{0.5f}}};
  graph.nodes = {{Embed{}, {ValueId{0}, ValueId{1}}, {ValueId{3}}},
                 {Embed{}, {ValueId{0}, ValueId{2}}, {ValueId{4}}}};
  return {std::move(graph), ValueId{3}, ValueId{4}};
}

Result<void> read(const TensorDesc& tensor, Share share, const WriteBytes& write) {
  if (share.index != 0) return {};
  if (const auto* fill = std::get_if<Fill>(&tensor.recipe)) {
    const std::vector<float> values(size_t(tensor.shape[0]), fill->value);
    return write(0, std::as_bytes(std::span(values)));
  }
  const size_t columns = size_t(tensor.shape[1]);
  const size_t first = std::get<Weight>(tensor.recipe).columns.first;
  std::vector<uint16_t> halves;
  for (uint32_t row = 0; row < kVocab; ++row) {
    for (size_t c = 0; c < columns; ++c) halves.push_back(f32_to_f16(value(row, first + c)));
  }
  return write(0, std::as_bytes(std::span(halves)));
}

struct Ran {
  std::string kernel;
  std::vector<float> rows;
};
/// The last of two steps of as many tokens, of a phase for `most`.
Ran run(Backend& ranks, Graph graph, uint32_t most, const std::vector<uint32_t>& tokens) {
  Ran run;
  remove_unused(graph);
  auto plan = capture(graph, ranks.device(),
                      {.phases = {{"prefill", most}}, .forced = {}, .ranks = kRanks});
  EXPECT_TRUE(plan) << plan.error().message;
  if (!plan) return run;
  run.kernel = plan->phases[0].steps.back().kernel->name;
  auto program = ranks.compile(*std::move(plan), read);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return run;
  for (int step = 0; step < 2; ++step) {
    const auto done = [&](Result<std::span<const float>> result) {
      EXPECT_TRUE(result) << result.error().message;
      if (result) run.rows.assign(result->begin(), result->end());
    };
    EXPECT_TRUE((*program)->submit({.phase = 0,
                                    .slots = {{.count = uint32_t(tokens.size())}},
                                    .tokens = tokens,
                                    .done = done}));
    EXPECT_TRUE((*program)->wait());
  }
  return run;
}

/// The sum of all ranks and the residual: small whole numbers, exact in any order.
float sum_at(uint32_t row, uint32_t columns, size_t c) {
  float sum = value(row, c);
  for (uint32_t rank = 0; rank < kRanks; ++rank) sum += value(row, rank * columns + c);
  return sum;
}

std::vector<uint32_t> tokens_of(size_t count) {
  std::vector<uint32_t> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(uint32_t(i * 5 % kVocab));
  return tokens;
}

TEST(CudaRanks, AddUpInTheStepsThatTakeTheLeastTime) {
  const auto ranks = open_ranks();
  ASSERT_NE(ranks, nullptr);
  struct Steps {
    uint32_t columns, most, tokens;
    std::string kernel;
  };
  for (const Steps& steps :
       {Steps{900, 256, 21, "all_reduce.cuda.two_steps"}, Steps{900, 8, 3, "all_reduce.cuda.put"},
        Steps{901, 8, 3, "all_reduce.cuda"}}) {
    Sum sum = begin_sum(steps.columns);
    sum.graph.nodes.push_back({AllReduce{.ranks = kRanks, .parts = 1, .last = true},
                               {sum.part, sum.residual},
                               {ValueId{5}}});
    sum.graph.result = ValueId{5};
    const std::vector<uint32_t> tokens = tokens_of(steps.tokens);
    const Ran own = run(*ranks, sum.graph, steps.most, tokens);
    EXPECT_EQ(own.kernel, steps.kernel);
    ASSERT_EQ(own.rows.size(), tokens.size() * steps.columns) << steps.kernel;
    size_t wrong = 0;
    for (size_t i = 0; i < own.rows.size(); ++i) {
      const size_t row = i / steps.columns, c = i % steps.columns;
      wrong += own.rows[i] == sum_at(tokens[row], steps.columns, c) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u) << steps.kernel;
  }
}

TEST(CudaRanks, NormaliseWhatTheyHaveAddedUp) {
  constexpr uint32_t kColumns = 900;
  constexpr float kEps = 1e-3f;
  const auto ranks = open_ranks();
  ASSERT_NE(ranks, nullptr);
  for (const uint32_t most : {256u, 8u}) {
    Sum sum = begin_sum(kColumns);
    sum.graph.nodes.push_back(
        {AllReduceNorm{.ranks = kRanks, .parts = 1, .last = true, .eps = kEps},
         {sum.part, sum.residual, ValueId{7}},
         {ValueId{5}, ValueId{6}}});
    sum.graph.result = ValueId{6};
    const std::vector<uint32_t> tokens = tokens_of(3);
    const Ran own = run(*ranks, sum.graph, most, tokens);
    EXPECT_EQ(own.kernel,
              most == 8 ? "all_reduce_norm.cuda.put" : "all_reduce_norm.cuda.two_steps");
    ASSERT_EQ(own.rows.size(), tokens.size() * kColumns);
    for (size_t row = 0; row < tokens.size(); ++row) {
      double squares = 0;
      for (size_t c = 0; c < kColumns; ++c)
        squares += std::pow(sum_at(tokens[row], kColumns, c), 2);
      const double scale = 0.5 / std::sqrt(squares / kColumns + kEps);
      for (size_t c = 0; c < kColumns; ++c) {
        ASSERT_NEAR(own.rows[row * kColumns + c], scale * sum_at(tokens[row], kColumns, c), 1e-5);
      }
    }
  }
}

/// Several rows of a workgroup, and a row for each.
TEST(CudaRanks, NormaliseRowsOfWhichTheyHaveSomeColumns) {
  constexpr uint32_t kColumns = 900;
  constexpr float kEps = 1e-3f;
  const auto ranks = open_ranks();
  ASSERT_NE(ranks, nullptr);
  for (const uint32_t most : {256u, 8u}) {
    Sum sum = begin_sum(kColumns);
    sum.graph.nodes.push_back({AllNorm{.ranks = kRanks,
                                       .columns = kRanks * kColumns,
                                       .other_columns = kRanks * kColumns,
                                       .eps = kEps},
                               {sum.part, ValueId{7}, sum.residual, ValueId{7}},
                               {ValueId{5}, ValueId{6}}});
    sum.graph.values.push_back({.name = {}, .shape = {kTokens, kColumns}});
    sum.graph.nodes.push_back({Add{}, {ValueId{5}, ValueId{6}}, {ValueId{8}}});
    sum.graph.result = ValueId{8};
    const std::vector<uint32_t> tokens = tokens_of(most == 8 ? 3 : 150);
    const Ran own = run(*ranks, sum.graph, most, tokens);
    ASSERT_EQ(own.rows.size(), tokens.size() * kColumns);
    double worst = 0;
    for (size_t row = 0; row < tokens.size(); ++row) {
      double all = 0, same = 0;  // squares of what each has another part of, and of what all have
      for (size_t c = 0; c < kRanks * kColumns; ++c) all += std::pow(value(tokens[row], c), 2);
      for (size_t c = 0; c < kColumns; ++c) same += std::pow(value(tokens[row], c), 2);
      const double scale = 0.5 / std::sqrt(all / (kRanks * kColumns) + kEps) +
                           0.5 / std::sqrt(same / kColumns + kEps);
      for (size_t c = 0; c < kColumns; ++c) {
        const double expected = scale * value(tokens[row], c);
        worst = std::max(worst, std::abs(own.rows[row * kColumns + c] - expected));
      }
    }
    EXPECT_LE(worst, 1e-5) << most;
  }
}

TEST(CudaLinks, TheSlowestBetweenTheRanksCounts) {
  const std::vector<CudaLink> links = {{.reader = 0, .owner = 1, .bytes_per_second = 10},
                                       {.reader = 1, .owner = 0, .bytes_per_second = 8},
                                       {.reader = 0, .owner = 2, .bytes_per_second = 1},
                                       {.reader = 1, .owner = 2, .problem = "none"}};
  const auto slowest = [&](std::vector<uint32_t> devices) { return slowest_link(links, devices); };
  EXPECT_EQ(slowest({0, 1}), 8);
  EXPECT_EQ(slowest({2, 0, 1}), 1);
  EXPECT_EQ(slowest({1, 2}), 0);
}

}  // namespace
}  // namespace tokamak
