#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/packing.h"
#include "graph/builder.h"
#include "graph/text.h"
#include "plan/shards.h"
#include "plan/text.h"
#include "plan/two_layers_test.h"

namespace tokamak {
namespace {

TEST(Cost, CountsTheExpertsThatAreChosenAndEachOnce) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const auto weight = [&](const char* name, Shape shape) {
    return b.constant(name, std::move(shape), DType::kF16, Weight{{name}});
  };
  const ValueId x = b.embed(tokens, weight("embed", {32, 16}));
  const auto routed = b.route(b.linear(x, weight("router", {8, 16})), {.top_k = 2});
  auto graph = b.finish(b.expert_linear(x, weight("experts", {8 * 24, 16}), routed.chosen, 8));
  ASSERT_TRUE(graph) << graph.error().message;
  auto plan = capture(*graph, webgpu_device(), {.phases = {{"prefill", 64}}, .forced = {}});
  ASSERT_TRUE(plan) << plan.error().message;
  const Step& step = plan->phases[0].steps.back();
  const auto expected = [](uint64_t count, uint64_t experts) {
    return experts * 24 * 16 * 2 + count * (16 * 4 + 2 * 4 + 2 * 24 * 4);
  };
  EXPECT_EQ(step_cost(*plan, step, 1, 1).bytes, expected(1, 2));
  EXPECT_EQ(step_cost(*plan, step, 64, 64).bytes, expected(64, 8));
  EXPECT_EQ(step_cost(*plan, step, 64, 64).flops, 2u * 64 * 2 * 24 * 16);
}

TEST(Capture, PoolsActivationsAndSharesPermanentBuffers) {
  auto plan = capture(two_layers(), webgpu_device(), kBothPhases);
  ASSERT_TRUE(plan) << plan.error().message;
  size_t activations = 0, states = 0, tables = 0;
  for (const Buffer& buffer : plan->buffers) {
    activations += buffer.use == BufferUse::kActivation;
    states += buffer.use == BufferUse::kState;
    tables += buffer.use == BufferUse::kTable;
  }
  EXPECT_EQ(states, 2u);
  EXPECT_EQ(tables, 1u);
  EXPECT_GT(plan->phases[0].tensors, 10u);
  EXPECT_LE(activations, 5u);
}

TEST(Capture, APhaseOfFewerTokensTakesNoMemory) {
  CaptureOptions three = kBothPhases;
  three.phases.insert(three.phases.begin() + 1, {"small_batch", 8});
  auto two = capture(two_layers(), webgpu_device(), kBothPhases);
  auto all = capture(two_layers(), webgpu_device(), three);
  ASSERT_TRUE(two && all);
  EXPECT_EQ(all->buffers, two->buffers);
}

TEST(Plan, StepsTakeTheFirstOfTheSmallestPhasesThatHoldThem) {
  Plan plan;
  EXPECT_EQ(plan.chunk(), 1u);
  EXPECT_EQ(plan.phase_for(1), 0u) << "there is none";
  for (const uint32_t tokens : {64u, 512u, 8u, 1u, 1u}) plan.phases.push_back({"", tokens});
  EXPECT_EQ(plan.chunk(), 512u);
  plan.phases.push_back({.name = "", .max_tokens = 600, .kind = PhaseKind::kGreedy});
  EXPECT_EQ(plan.chunk(), 512u);
  EXPECT_EQ(plan.layout().rows, 600u);
  plan.phases.pop_back();
  EXPECT_EQ(plan.phase_for(1), 3u);
  EXPECT_EQ(plan.phase_for(2), 2u);
  EXPECT_EQ(plan.phase_for(9), 0u);
  EXPECT_EQ(plan.phase_for(512), 1u);
  EXPECT_EQ(plan.phase_for(513), 5u);
}

TEST(Plan, APhaseForLongContextTakesThePlaceOfTheOneBefore) {
  Plan plan;
  for (const uint32_t from : {0u, 0u, 100u, 0u, 200u}) {
    plan.phases.push_back({.name = "", .max_tokens = 1, .from_position = from});
  }
  EXPECT_EQ(plan.phase_for(1), 0u);
  EXPECT_EQ(plan.phase_at(0, 1000), 0u);
  EXPECT_EQ(plan.phase_at(1, 99), 1u);
  EXPECT_EQ(plan.phase_at(1, 100), 2u);
  EXPECT_EQ(plan.phase_at(3, 199), 3u);
  EXPECT_EQ(plan.phase_at(3, 200), 4u);
  EXPECT_EQ(plan.change_after(0, 0), UINT32_MAX);
  EXPECT_EQ(plan.change_after(1, 0), 100u);
  EXPECT_EQ(plan.change_after(1, 99), 100u);
  EXPECT_EQ(plan.change_after(1, 100), UINT32_MAX);
  EXPECT_EQ(plan.change_after(4, 0), UINT32_MAX) << "it is the last";
}

TEST(Capture, NoStepReadsAndWritesOneBuffer) {
  auto plan = capture(two_layers(), webgpu_device(), kBothPhases);
  ASSERT_TRUE(plan);
  for (const Phase& phase : plan->phases) {
    for (const Step& step : phase.steps) {
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        for (const Operand& in : step.inputs) EXPECT_NE(in.buffer, step.outputs[i].buffer);
        for (size_t j = 0; j < i; ++j) EXPECT_NE(step.outputs[j].buffer, step.outputs[i].buffer);
      }
    }
  }
}

TEST(Capture, SumsStayWhereTheyWereClearedUntilTheirLastReader) {
  GraphBuilder b;
  const auto weight = [&](const char* name, Shape shape) {
    return b.constant(name, std::move(shape), DType::kBF16, Weight{{name}});
  };
  const ValueId x = b.embed(b.input("tokens", {kTokens}), weight("embed", {50, 16}));
  const auto front = b.add_node(FusedLinear{.clears = true}, {x, weight("o", {16, 16})});
  const ValueId sums = b.add_node(
      GatedFfn{}, {front[0], weight("gu", {64, 16}), weight("d", {16, 32}), front[1]})[0];
  const ValueId p = weight("p", {16, 16});
  ValueId y = b.add_node(FusedLinear{}, {front[0], p})[0];
  y = b.add_node(FusedLinear{}, {y, p})[0];
  const auto graph = b.finish(b.add_node(FusedLinear{.epilogue = Epilogue::kAdd}, {y, p, sums})[0]);
  ASSERT_TRUE(graph);
  auto plan = capture(*graph, webgpu_device(), {.phases = {{"one", 1}}});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<Step>& steps = plan->phases[0].steps;
  ASSERT_EQ(steps.size(), 6u);
  const BufferId cleared = steps[1].outputs[1].buffer;
  EXPECT_EQ(steps[2].outputs[0].buffer, cleared);
  for (const Operand& in : steps[2].inputs) EXPECT_NE(in.buffer, cleared) << "it is bound once";
  for (size_t i : {3u, 4u}) EXPECT_NE(steps[i].outputs[0].buffer, cleared);
  EXPECT_EQ(steps[5].inputs[2].buffer, cleared);
}

/// Replays the phase on tags instead of numbers: every read must see the tensor that was written.
TEST(Capture, NothingIsOverwrittenBeforeItsLastUse) {
  const Graph graph = two_layers();
  auto plan = capture(graph, webgpu_device(), {.phases = {{"prefill", 64}}, .forced = {}});
  ASSERT_TRUE(plan);
  const std::vector<Step>& steps = plan->phases[0].steps;
  ASSERT_EQ(steps.size(), graph.nodes.size());
  std::vector<uint32_t> holds(plan->buffers.size(), UINT32_MAX);
  for (size_t n = 0; n < steps.size(); ++n) {
    const Node& node = graph.nodes[n];
    size_t bound = 0;
    for (const ValueId id : node.inputs) {
      if (graph.at(id).storage != Storage::kActivation) {
        bound +=
            graph.at(id).storage != Storage::kState || !std::holds_alternative<KvAppend>(node.op);
        continue;
      }
      EXPECT_EQ(holds[uint32_t(steps[n].inputs[bound].buffer)], uint32_t(id)) << "step " << n;
      ++bound;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      holds[uint32_t(steps[n].outputs[i].buffer)] = uint32_t(node.outputs[i]);
    }
  }
}

TEST(Capture, APhaseMayHaveAGraphOfItsOwn) {
  const Graph graph = two_layers();
  Graph shorter = graph;
  shorter.result = shorter.nodes[0].outputs[0];
  remove_unused(shorter);
  const CaptureOptions options = {
      .phases = {{"prefill", 64}, {"decode", 1, PhaseKind::kDecode, &shorter}}};
  auto plan = capture(graph, webgpu_device(), options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->phases[0].steps.size(), graph.nodes.size());
  EXPECT_EQ(plan->phases[1].steps.size(), shorter.nodes.size());
  // The table of embeddings is one buffer for both.
  EXPECT_EQ(plan->phases[0].steps[0].inputs[1].buffer, plan->phases[1].steps[0].inputs[1].buffer);
}

TEST(Capture, NamesTheBufferThatExceedsADeviceLimit) {
  DeviceInfo device = webgpu_device();
  device.limits.binding_bytes = 512;
  auto plan = capture(two_layers(), device, kBothPhases);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(plan.error().message.find("binds at most 512 bytes"), std::string::npos)
      << plan.error().message;
}

TEST(Capture, ReportsWhatTakesLess) {
  const auto refused = [](const Shape& shape) {
    Graph graph = two_layers();
    for (TensorDesc& value : graph.values) {
      if (value.shape == shape) value.shape[0] = 8 << 20;
    }
    const auto plan = capture(graph, webgpu_device(), kBothPhases);
    return plan ? "nothing" : plan.error().message;
  };
  const Shape cache = {64, 2, 2, 8}, rope = {64, 8};
  for (const Shape& shape : {cache, rope}) {
    EXPECT_TRUE(refused(shape).ends_with("at once. A smaller context takes less."))
        << refused(shape);
  }
}

/// A tied embedding of 4096 x 32 and a gated product of 512 x 32 beside a small matrix.
Graph large_weights(DType dtype) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("embed", {4096, 32}, dtype, Weight{{"embed"}});
  const ValueId gates =
      b.constant("gates", {512, 32}, dtype, Weight{{"gate", "up"}, RowOrder::kInterleave});
  const ValueId small = b.constant("small", {32, 256}, DType::kF16, Weight{{"small"}});
  const ValueId x = b.embed(tokens, table);
  const ValueId h = b.add_node(LinearGlu{}, {x, gates}).front();
  auto graph = b.finish(b.linear(b.linear(b.last_row(h), small), table));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

DeviceInfo small_device(uint64_t binding_bytes) {
  DeviceInfo device = webgpu_device();
  device.limits.binding_bytes = binding_bytes;
  return device;
}

const CaptureOptions kSmallSteps = {.phases = {{"prefill", 8}, {"decode", 1}}, .forced = {}};

template <typename T>
std::vector<const Step*> steps_of(const Phase& phase) {
  std::vector<const Step*> steps;
  for (const Step& step : phase.steps) {
    if (std::holds_alternative<T>(step.op)) steps.push_back(&step);
  }
  return steps;
}

TEST(Shards, AStepForEachPartOfALargeWeight) {
  for (const DType dtype : {DType::kBF16, DType::kQ4_0}) {
    const uint64_t limit = matrix_bytes(dtype, 1408, 32);
    auto plan = capture(large_weights(dtype), small_device(limit), kSmallSteps);
    ASSERT_TRUE(plan) << plan.error().message;
    for (const Buffer& buffer : plan->buffers) EXPECT_LE(buffer.bytes, limit);
    for (const Phase& phase : plan->phases) {
      const auto embed = steps_of<Embed>(phase), linear = steps_of<Linear>(phase);
      ASSERT_EQ(embed.size(), 3u);
      ASSERT_EQ(linear.size(), 4u);
      EXPECT_EQ(linear[0]->cut, RowCut{});
      for (const uint32_t part : {0u, 1u, 2u}) {
        const RowCut cut{part * 1408, 4096};
        EXPECT_EQ(embed[part]->cut, cut);
        EXPECT_EQ(linear[part + 1]->cut, cut);
        EXPECT_EQ(linear[part + 1]->inputs[1], embed[part]->inputs[1]);
        EXPECT_EQ(embed[part]->outputs, embed[0]->outputs);
        const TensorDesc& held = plan->at(embed[part]->inputs[1].buffer).tensor;
        EXPECT_EQ(recipe_text(held.recipe), fmt::format("weight \"embed\"[{}:{}]", cut.first,
                                                        std::min(4096u, cut.first + 1408)));
      }
    }
    EXPECT_TRUE(*parse_plan(to_text(*plan)) == *plan);
  }
}

TEST(Shards, CostNoMoreThanTheWhole) {
  const Graph graph = large_weights(DType::kBF16);
  auto whole = capture(graph, webgpu_device(), kSmallSteps);
  auto cut = capture(graph, small_device(uint64_t{100} << 10), kSmallSteps);
  ASSERT_TRUE(whole && cut);
  for (const size_t phase : {0u, 1u}) {
    const Cost one = phase_cost(*whole, whole->phases[phase], 8, 8);
    const Cost many = phase_cost(*cut, cut->phases[phase], 8, 8);
    EXPECT_EQ(one.flops, many.flops);
    // Every part reads its input again.
    EXPECT_NEAR(double(one.bytes), double(many.bytes), 0.02 * double(one.bytes));
  }
}

TEST(Shards, KeepRowsThatBelongTogether) {
  auto plan = capture(large_weights(DType::kBF16), small_device(uint64_t{20} << 10), kSmallSteps);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto gates = steps_of<LinearGlu>(plan->phases[0]);
  ASSERT_EQ(gates.size(), 2u);
  const TensorDesc& second = plan->at(gates[1]->inputs[1].buffer).tensor;
  EXPECT_EQ(recipe_text(second.recipe), "interleave \"gate\"[128:256] \"up\"[128:256]");
}

/// q and k of one type and v of another, one after the other.
Graph mixed_types() {
  GraphBuilder b;
  const ValueId table = b.constant("embed", {64, 256}, DType::kF16, Weight{{"embed"}});
  Weight joined{{WeightPart("q", 0, 128), WeightPart("k", 0, 64), WeightPart("v", 0, 64)},
                RowOrder::kConcat};
  joined.parts[0].dtype = joined.parts[1].dtype = DType::kQ4_K;
  joined.parts[2].dtype = DType::kQ6_K;
  const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
  auto graph = b.finish(b.linear(x, b.constant("qkv", {256, 256}, DType::kF32, joined)));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

TEST(Shards, AStepForTheRowsOfEachType) {
  auto plan = capture(mixed_types(), webgpu_device(), kSmallSteps);
  ASSERT_TRUE(plan) << plan.error().message;
  for (const Phase& phase : plan->phases) {
    const auto linear = steps_of<Linear>(phase);
    ASSERT_EQ(linear.size(), 2u);
    EXPECT_EQ(linear[0]->cut, (RowCut{0, 256}));
    EXPECT_EQ(linear[1]->cut, (RowCut{192, 256}));
    EXPECT_EQ(type_text(linear[0]->inputs[1]), "q4_k[192,256]");
    EXPECT_EQ(type_text(linear[1]->inputs[1]), "q6_k[64,256]");
    EXPECT_EQ(linear[0]->outputs, linear[1]->outputs);
  }
}

TEST(Shards, OfOneTypeAreCutToTheLimit) {
  const uint64_t limit = matrix_bytes(DType::kQ4_K, 100, 256);
  auto plan = capture(mixed_types(), small_device(limit), kSmallSteps);
  ASSERT_TRUE(plan) << plan.error().message;
  std::vector<RowCut> cuts;
  for (const Step* step : steps_of<Linear>(plan->phases[0])) cuts.push_back(step->cut);
  EXPECT_EQ(cuts, (std::vector<RowCut>{{0, 256}, {64, 256}, {128, 256}, {192, 256}}));
  EXPECT_TRUE(*parse_plan(to_text(*plan)) == *plan);
}

TEST(Shards, OfSeveralTypesAreF32OnTheCpu) {
  DeviceInfo cpu;
  auto plan = capture(mixed_types(), cpu, kSmallSteps);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto linear = steps_of<Linear>(plan->phases[0]);
  ASSERT_EQ(linear.size(), 1u);
  EXPECT_EQ(type_text(linear[0]->inputs[1]), "f32[256,256]");
  EXPECT_TRUE(*parse_plan(to_text(*plan)) == *plan);
}

TEST(Shards, AreNotForTheCpu) {
  DeviceInfo cpu;
  cpu.limits.binding_bytes = 1024;
  auto plan = capture(large_weights(DType::kF32), cpu, kSmallSteps);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(steps_of<Embed>(plan->phases[0]).size(), 1u);
}

std::vector<uint32_t> cut_points(Dim rows, Dim columns, DType dtype, uint64_t limit) {
  TensorDesc matrix{.name = "w", .shape = {rows, columns}, .dtype = dtype};
  matrix.recipe = Weight{{"w"}};
  std::vector<uint32_t> points;
  for (const Shard& shard : cut_rows(matrix, limit)) {
    EXPECT_LE(byte_count(shard.tensor, 1), limit);
    points.push_back(shard.cut.first);
  }
  return points;
}

TEST(Shards, AreFewAndBeginAtBlocksOrEvenRows) {
  EXPECT_TRUE(cut_points(100, 8, DType::kF32, 3200).empty());
  EXPECT_EQ(cut_points(100, 8, DType::kF32, 3199), (std::vector<uint32_t>{0, 64}));
  EXPECT_EQ(cut_points(101, 8, DType::kF32, 1800), (std::vector<uint32_t>{0, 52}));
  EXPECT_EQ(cut_points(5, 8, DType::kF32, 64), (std::vector<uint32_t>{0, 2, 4}));
  EXPECT_TRUE(cut_points(5, 8, DType::kF32, 63).empty());
}

TEST(Shards, NoOtherOpReadsACutWeight) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId table = b.constant("table", {64, 16}, DType::kF32, Weight{{"table"}});
  const ValueId x = b.embed(tokens, table);
  auto graph = b.finish(b.rope(x, table, 16));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(rows_together(*graph, table), 0u);
  EXPECT_EQ(rows_together(*graph, tokens), 0u);
}

TEST(Shards, HaveWholeExperts) {
  GraphBuilder b;
  const ValueId table = b.constant("table", {64, 16}, DType::kF32, Weight{{"table"}});
  const ValueId x = b.embed(b.input("tokens", {kTokens}), table);
  const ValueId w = b.constant("w", {5 * 7, 16}, DType::kF32, Weight{{"w"}});
  const auto routed =
      b.route(b.linear(x, b.constant("r", {5, 16}, DType::kF32, Weight{{"r"}})), {.top_k = 2});
  auto graph = b.finish(b.expert_linear(x, w, routed.chosen, 5));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(rows_together(*graph, table), 1u);
  EXPECT_EQ(rows_together(*graph, w), 7u);
  // Two experts of seven rows, so that parts begin at even rows.
  std::vector<uint32_t> points;
  for (const Shard& shard : cut_rows(graph->at(w), 15 * 64, 7)) points.push_back(shard.cut.first);
  EXPECT_EQ(points, (std::vector<uint32_t>{0, 14, 28}));
  EXPECT_TRUE(cut_rows(graph->at(w), 13 * 64, 7).empty());
}

TEST(Capture, ReportsWhyAForcedVariantCannotRun) {
  auto plan =
      capture(two_layers(), webgpu_device(),
              {.phases = {{"decode", 1}}, .forced = {{"linear", "linear.wgsl.matvec_subgroup"}}});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("device lacks subgroups"), std::string::npos)
      << plan.error().message;
}

TEST(Cost, CountsAChangedStateAsReadAndWritten) {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const ValueId x = b.embed(tokens, b.constant("table", {8, 4}, DType::kF32, Weight{{"table"}}));
  const ValueId w = b.constant("w", {4, 3}, DType::kF32, Weight{{"w"}});
  const ValueId y = b.short_conv(x, w, b.recurrent("rows", {2, 4}), Activation::kSilu);
  const Graph graph = *b.finish(y);
  auto plan = capture(graph, webgpu_device(), kBothPhases);
  ASSERT_TRUE(plan) << plan.error().message;
  const Step& step = plan->phases[1].steps.back();
  const uint64_t rows = 4 * 4, taps = 4 * 3 * 4, state = 4 * 2 * 4;
  EXPECT_EQ(step_cost(*plan, step, 1, 1).bytes, 2 * rows + taps + 2 * state);
  EXPECT_EQ(step_cost(*plan, step, 5, 5).bytes, 5 * 2 * rows + taps + 2 * state);
  EXPECT_EQ(step_cost(*plan, step, 5, 1, 5).bytes, 5 * (2 * rows + 2 * state) + taps)
      << "each sequence has its own";
}

/// A byte for each element, and four for the step of each head.
TEST(Cost, OfAQ8CacheCountsItsSteps) {
  constexpr uint64_t kQ8 = 2 * 2 * (8 + 4), kF16 = 2 * 2 * 8 * 2;  // of a position
  for (const auto& [type, position] : {std::pair{kQ8Cache, kQ8}, {DType::kF16, kF16}}) {
    auto plan = capture(two_layers(type), webgpu_device(), kBothPhases);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(footprint(*plan).states, 2 * 64 * position);
    const auto bytes = [&](uint64_t kv_length) {
      return phase_cost(*plan, plan->phases[1], 1, kv_length).bytes;
    };
    EXPECT_EQ(bytes(30) - bytes(10), 2 * 20 * position);
    const uint64_t three = phase_cost(*plan, plan->phases[1], 1, 30, 3).bytes;
    EXPECT_EQ(three - bytes(30), 2 * 2 * 30 * position) << "two more sequences";
  }
}

TEST(PlanText, PrintsAndParsesBack) {
  DeviceInfo device = webgpu_device();
  for (const Features features : {0u, kFeatureF16 | kFeatureSubgroups}) {
    device.features = features;
    CaptureOptions three = kBothPhases;
    three.phases.push_back({.name = "far", .max_tokens = 1, .from_position = 100});
    auto plan = capture(two_layers(), device, three);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->phases.back().from_position, 100u);
    const std::string text = to_text(*plan);
    auto parsed = parse_plan(text);
    ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text;
    EXPECT_EQ(to_text(*parsed), text);
    EXPECT_TRUE(*parsed == *plan);
  }
}

TEST(PlanText, RefusesPartsBeyondTheWhole) {
  auto plan = parse_plan(
      "buffer 0 batch 16\nphase p max_tokens=1 tensors=0 tensor_bytes=0 "
      "result=0:f32[1]\nstep linear.cpu rows 8/8 in 0:f32[1] out 0:f32[1] grid 1 1 1\n");
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("a first row below"), std::string::npos);
}

TEST(PlanText, RefusesWhatDoesNotExist) {
  EXPECT_FALSE(parse_plan(""));
  EXPECT_FALSE(parse_plan("buffer 1 batch 16\n"));
  EXPECT_FALSE(
      parse_plan("buffer 0 batch 16\nphase p max_tokens=1 tensors=0 tensor_bytes=0 "
                 "result=3:f32[1]\n"));
  auto kernel = parse_plan(
      "buffer 0 batch 16\nphase p max_tokens=1 tensors=0 tensor_bytes=0 "
      "result=0:f32[1]\nstep nothing in 0:f32[1] out 0:f32[1] grid 1 1 1\n");
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().message.find("line 3"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
