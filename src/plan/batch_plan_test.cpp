// The plan for several sequences and for inputs that their rows have.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/text.h"
#include "plan/two_layers_test.h"

namespace tokamak {
namespace {

Graph with_input(std::string name, Shape shape, DType dtype) {
  Graph graph = two_layers();
  graph.values.push_back({std::move(name), std::move(shape), dtype, Storage::kInput});
  return graph;
}

TEST(Capture, GivesEveryInputOfItsRowsABufferOfItsOwn) {
  const auto plan =
      capture(with_input("image", {kTokens, 16}, DType::kF32), webgpu_device(), kBothPhases);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto is_image = [](const Buffer& buffer) { return buffer.tensor.name == "image"; };
  const auto image = std::ranges::find_if(plan->buffers, is_image);
  ASSERT_NE(image, plan->buffers.end());
  EXPECT_EQ(image->use, BufferUse::kInput);
  EXPECT_EQ(image->bytes, 64u * 16 * 4) << "for the largest step";
}

TEST(Capture, RefusesTokenIdsThatAreNone) {
  Graph graph = two_layers();
  const auto is_ids = [](const TensorDesc& value) { return value.name == "tokens"; };
  std::ranges::find_if(graph.values, is_ids)->name = "ids";
  graph.values.push_back({"tokens", {kTokens, 16}, DType::kF32, Storage::kInput});
  const auto plan = capture(graph, webgpu_device(), kBothPhases);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(plan.error().message,
            "The input \"tokens\" is f32[T,16], expected the token ids: u32[T].");
}

TEST(Capture, EverySlotHasPageTablesAndStatesButCachesAreOne) {
  CaptureOptions four = kBothPhases;
  four.slots = 4;
  const auto one = capture(two_layers(), webgpu_device(), kBothPhases);
  const auto plan = capture(two_layers(), webgpu_device(), four);
  ASSERT_TRUE(one && plan);
  EXPECT_EQ(plan->layout(), (BatchLayout{.slots = 4, .rows = 64}));
  for (size_t i = 0; i < one->buffers.size(); ++i) {
    const Buffer &alone = one->buffers[i], &shared = plan->buffers[i];
    const bool is_table = alone.use == BufferUse::kTable;
    if (is_table || alone.use == BufferUse::kState) {
      EXPECT_EQ(shared.bytes, (is_table ? 4 : 1) * alone.bytes);
    }
  }
  const Phase& prefill = plan->phases[0];
  EXPECT_EQ(max_slots(*plan, prefill), 4u);
  EXPECT_EQ(max_outputs(*plan, prefill), 4u);
  four.slots = 40;
  const auto many = capture(two_layers(), webgpu_device(), four);
  ASSERT_TRUE(many);
  EXPECT_EQ(max_slots(*many, many->phases[0]), 40u);
  EXPECT_EQ(max_outputs(*many, many->phases[0]), kMaxPromptOutputs);
  four.prompt_outputs = 32;
  const auto vectors = capture(two_layers(), webgpu_device(), four);
  ASSERT_TRUE(vectors);
  EXPECT_EQ(max_outputs(*vectors, vectors->phases[0]), 32u);
  EXPECT_EQ(parse_plan(to_text(*vectors)).value(), *vectors);
  EXPECT_TRUE(is_for_outputs(*plan, prefill, prefill.steps.back())) << "logits of the last rows";
  EXPECT_FALSE(is_for_outputs(*plan, prefill, prefill.steps.front()));
  EXPECT_EQ(max_slots(*plan, plan->phases[1]), 1u);
  auto parsed = parse_plan(to_text(*plan));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, *plan);
}

}  // namespace
}  // namespace tokamak
