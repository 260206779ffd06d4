#include "compile/part.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "plan/two_layers_test.h"

namespace tokamak {
namespace {

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Phase& phase : plan.phases) names.push_back(phase.name);
  return names;
}

PartRequest text() {
  using fuse::Steps;
  return {.graphs = {{two_layers(), {}}},
          .phases = {{"prefill", PhaseKind::kPrefill, 64},
                     {"small_batch", PhaseKind::kPrefill, 8},
                     {"decode", PhaseKind::kDecode, 1, Steps::kOne},
                     {"decode_long", PhaseKind::kDecode, 1, Steps::kOne, 0, 32},
                     {"greedy", PhaseKind::kGreedy, 1, Steps::kOne},
                     {"greedy_4", PhaseKind::kGreedy, 4, Steps::kDecode},
                     {"greedy_8", PhaseKind::kGreedy, 8, Steps::kDecode}},
          .slots = 8};
}

TEST(CompilePart, AGraphIsFusedOnceForAllPhasesThatAgreeOnIt) {
  const auto part = compile_part(text(), webgpu_device(), {});
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->fused_graphs.size(), 4u);
  EXPECT_EQ(&part->fused(0), &part->fused(1));
  EXPECT_EQ(&part->fused(0).graph, &part->fused());
  EXPECT_EQ(part->keys[4], (GraphKey{0, Tail::kBest, fuse::Steps::kDecode, false}));
  EXPECT_EQ(part->keys[4], part->keys[5]);
  for (size_t i = 0; i < part->keys.size(); ++i) {
    EXPECT_LT(part->fused(i).graph.nodes.size(), part->unfused(i).nodes.size()) << i;
    EXPECT_EQ(part->plan.phases[i].steps.size(), part->fused(i).graph.nodes.size()) << i;
  }
}

TEST(CompilePart, TheTailIsThatOfThePhase) {
  const auto part = compile_part(text(), webgpu_device(), {});
  ASSERT_TRUE(part) << part.error().message;
  const auto last = [&](size_t phase) { return op_name(part->unfused(phase).nodes.back().op); };
  EXPECT_EQ(to_text(part->unfused(0)), to_text(two_layers()));
  EXPECT_EQ(last(2), "linear");
  EXPECT_EQ(part->unfused(2).at(part->unfused(2).result).shape[0], kTokens);
  EXPECT_EQ(last(3), "next_token");
  EXPECT_EQ(op_name(with_tail(two_layers(), Tail::kDraw).nodes.back().op), "sample_token");
  EXPECT_EQ(op_name(with_tail(two_layers(), Tail::kList).nodes.back().op), "topk_tokens");
}

TEST(CompilePart, PhasesForLongContextsNeedAGraphOfTheirOwn) {
  const auto part = compile_part(text(), webgpu_device(), {});
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(names_of(part->plan), (std::vector<std::string>{"prefill", "small_batch", "decode",
                                                            "greedy", "greedy_4", "greedy_8"}));
  EXPECT_EQ(part->keys.size(), part->plan.phases.size());
}

TEST(CompilePart, APhaseRunsTheGraphThatItsRowNames) {
  PartRequest request = text();
  const Graph other = with_tail(two_layers(), Tail::kLogits);
  request.graphs.push_back({other, {}});
  request.phases.push_back(
      {.name = "images", .kind = PhaseKind::kImages, .max_rows = 64, .graph = 1});
  const auto part = compile_part(std::move(request), webgpu_device(), {});
  ASSERT_TRUE(part) << part.error().message;
  const size_t images = part->keys.size() - 1;
  EXPECT_EQ(part->keys[images], (GraphKey{1, Tail::kRows, fuse::Steps::kMany, false}));
  EXPECT_EQ(to_text(part->unfused(images)), to_text(other));
  EXPECT_EQ(part->plan.phases[images].result.shape[0], kTokens);
  EXPECT_EQ(part->plan.phases[0].result.shape[0], kOutputs);
}

TEST(CompilePart, APassThatDoesNotExistIsRefused) {
  const auto part = compile_part(text(), webgpu_device(), {.disabled_passes = {"no_such_pass"}});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace tokamak
