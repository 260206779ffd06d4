#include "plan/layer_cut.h"

#include <algorithm>

#include "plan/two_layers_test.h"

namespace tokamak {
namespace {

Plan captured(const Graph& graph) {
  auto plan = capture(graph, webgpu_device(), kBothPhases);
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

/// Names of the tensors of that use, in the order of the buffers.
std::vector<std::string> names(const Plan& plan, BufferUse use) {
  std::vector<std::string> found;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.use == use) found.push_back(buffer.tensor.name);
  }
  return found;
}

using Names = std::vector<std::string>;
using Rooms = std::vector<uint64_t>;

TEST(LayerCut, LeavesAPlanWithoutStatesWhole) {
  GraphBuilder b;
  const ValueId x = b.embed(b.input("tokens", {kTokens}),
                            b.constant("embed", {32, 16}, DType::kBF16, Weight{{"embed"}}));
  const auto graph = b.finish(x);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(find_layers(captured(*graph)).size(), 1u);
}

TEST(LayerCut, CutsEveryPhaseBetweenTwoStates) {
  const Plan plan = captured(two_layers());
  const std::vector<LayerStart> layers = find_layers(plan);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0], LayerStart({0, 0}));
  for (size_t phase = 0; phase < plan.phases.size(); ++phase) {
    const Step& before = plan.phases[phase].steps[layers[1][phase] - 1];
    EXPECT_EQ(op_name(before.op), "add") << "only x goes on";
  }
}

TEST(LayerCut, GivesEachStageWhatItTouches) {
  const Plan plan = captured(two_layers());
  const std::vector<LayerStart> layers = find_layers(plan);
  const std::vector<LayerShare> shares = share_layers(plan, layers, Rooms{0, 0});
  const std::vector<Stage> stages = cut_layers(plan, layers, shares);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(names(stages[0].plan, BufferUse::kState), Names({"kv.0"}));
  EXPECT_EQ(names(stages[1].plan, BufferUse::kState), Names({"kv.1"}));
  EXPECT_EQ(names(stages[0].plan, BufferUse::kConstant), Names({"embed", "rope", "norm0", "w0"}));
  EXPECT_EQ(names(stages[1].plan, BufferUse::kConstant), Names({"embed", "rope", "norm1", "w1"}))
      << "the table of tokens is the weight of the logits";
  for (size_t p = 0; p < plan.phases.size(); ++p) {
    EXPECT_TRUE(stages[0].takes[p].empty());
    ASSERT_EQ(stages[0].gives[p].size(), 1u);
    ASSERT_EQ(stages[1].takes[p].size(), 1u);
    EXPECT_TRUE(stages[1].gives[p].empty());
    EXPECT_EQ(stages[0].gives[p][0].buffer, stages[1].takes[p][0].buffer);
    EXPECT_EQ(stages[0].gives[p][0].operand.shape, Shape({kTokens, 16}));
    EXPECT_EQ(stages[0].plan.phases[p].result, stages[0].gives[p][0].operand);
    EXPECT_EQ(stages[0].plan.phases[p].steps.size() + stages[1].plan.phases[p].steps.size(),
              plan.phases[p].steps.size());
    EXPECT_EQ(type_text(stages[1].plan.phases[p].result), type_text(plan.phases[p].result));
  }
}

/// Attention that reads the keys and values of the layer before it keeps both together.
TEST(LayerCut, DoesNotCutBetweenLayersThatShareAState) {
  GraphBuilder b;
  const ValueId pages = b.input("pages", {4});
  ValueId x = b.embed(b.input("tokens", {kTokens}),
                      b.constant("embed", {32, 16}, DType::kBF16, Weight{{"embed"}}));
  const auto heads = [&] {
    return b.linear(x, b.constant("w", {16, 16}, DType::kF16, Weight{{"w"}}));
  };
  const ValueId first = b.kv_cache("kv.0", DType::kF16, 64, 2, 8);
  const ValueId kv = b.kv_append(heads(), heads(), first, pages);
  const auto attend = [&](ValueId keys) {
    x = b.add(x, b.attention(heads(), keys, pages, {.scale = 0.3f}));
  };
  attend(kv);
  const ValueId second = b.kv_cache("kv.1", DType::kF16, 64, 2, 8);
  attend(b.kv_append(heads(), heads(), second, pages));
  attend(kv);
  const auto graph = b.finish(b.last_row(x));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(find_layers(captured(*graph)).size(), 1u);
}

/// A plan whose layers have a weight of that number of bytes each.
struct Sizes {
  Plan plan;
  std::vector<LayerStart> layers;

  explicit Sizes(const std::vector<uint64_t>& weights) {
    plan.buffers.push_back({BufferUse::kBatch, 0, {}});
    plan.phases.push_back({.name = "decode", .steps = {}, .result = {}});
    for (size_t i = 0; i < weights.size(); ++i) {
      layers.push_back({i});
      plan.buffers.push_back({BufferUse::kConstant, weights[i], {}});
      Step step;
      step.inputs = {{BufferId(uint32_t(i + 1)), DType::kF32, {}}};
      plan.phases[0].steps.push_back(std::move(step));
    }
  }
  std::vector<LayerShare> share(const Rooms& rooms) const {
    return share_layers(plan, layers, rooms);
  }
};

using Shares = std::vector<LayerShare>;

TEST(LayerCut, SharesLayersByTheRoomOfEachDevice) {
  const Sizes alike({10, 10, 10, 10, 10, 10});
  EXPECT_EQ(alike.share({100, 100}), Shares({{0, 3, 30}, {3, 3, 30}}));
  EXPECT_EQ(alike.share({100, 50}), Shares({{0, 4, 40}, {4, 2, 20}}));
  EXPECT_EQ(alike.share({30, 60, 90}), Shares({{0, 1, 10}, {1, 2, 20}, {3, 3, 30}}));
  EXPECT_EQ(alike.share({0, 50}), Shares({{0, 3, 30}, {3, 3, 30}})) << "one is not known";
}

TEST(LayerCut, MakesTheFullestDeviceAsEmptyAsCanBe) {
  const Sizes uneven({40, 10, 10, 10});
  EXPECT_EQ(uneven.share({100, 100}), Shares({{0, 1, 40}, {1, 3, 30}}));
  EXPECT_EQ(uneven.share({1, 100}), Shares({{0, 1, 40}, {1, 3, 30}})) << "each has a layer";
}

}  // namespace
}  // namespace tokamak
