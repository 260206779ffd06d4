#include "plan/plan.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "plan/pool.h"
#include "plan/text.h"

namespace tokamak {
namespace {

Graph two_layers() {
  GraphBuilder b;
  const ValueId tokens = b.input("tokens", {kTokens});
  const auto weight = [&](const char* name, Shape shape, DType dtype) {
    return b.constant(name, std::move(shape), dtype, Weight{{name}});
  };
  const ValueId table = weight("embed", {32, 16}, DType::kBF16);
  ValueId x = b.embed(tokens, table);
  const ValueId pages = b.input("pages", {4});
  const ValueId rope = b.constant("rope", {64, 8}, DType::kF32, RopeTable{{1, 0.5f, 0.25f, 0.1f}});
  for (const char* layer : {"0", "1"}) {
    const std::string p = layer;
    const ValueId n = b.rms_norm(x, weight(("norm" + p).c_str(), {16}, DType::kF32), 1e-6f);
    const ValueId w = weight(("w" + p).c_str(), {16, 16}, DType::kF16);
    const ValueId q = b.rope(b.linear(n, w), rope, 8);
    const ValueId k = b.linear(n, w);
    const ValueId cache = b.state("kv." + p, {64, 2, 2, 8}, DType::kF16);
    const ValueId kv = b.kv_append(k, k, cache, pages);
    x = b.add(x, b.attention(q, kv, pages, {.scale = 0.3f}));
  }
  auto graph = b.finish(b.linear(b.last_row(x), table));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

DeviceInfo webgpu_device() {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "test device";
  return device;
}

const CaptureOptions kBothPhases = {.phases = {{"prefill", 64}, {"decode", 1}}, .forced = {}};

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

TEST(Capture, DecodeHasNoLastRow) {
  auto plan = capture(two_layers(), webgpu_device(), kBothPhases);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].steps.size(), plan->phases[1].steps.size() + 1);
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

TEST(Capture, SaysWhyAForcedVariantCannotRun) {
  auto plan =
      capture(two_layers(), webgpu_device(),
              {.phases = {{"decode", 1}}, .forced = {{"linear", "linear.wgsl.matvec_subgroup"}}});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("device lacks subgroups"), std::string::npos)
      << plan.error().message;
}

TEST(PlanText, PrintsAndParsesBack) {
  DeviceInfo device = webgpu_device();
  for (const Features features : {0u, kFeatureF16 | kFeatureSubgroups}) {
    device.features = features;
    auto plan = capture(two_layers(), device, kBothPhases);
    ASSERT_TRUE(plan);
    const std::string text = to_text(*plan);
    auto parsed = parse_plan(text);
    ASSERT_TRUE(parsed) << parsed.error().message << "\n" << text;
    EXPECT_EQ(to_text(*parsed), text);
    EXPECT_TRUE(*parsed == *plan);
  }
}

TEST(PlanText, RefusesWhatDoesNotExist) {
  EXPECT_FALSE(parse_plan(""));
  EXPECT_FALSE(parse_plan("buffer 1 frame 16\n"));
  EXPECT_FALSE(
      parse_plan("buffer 0 frame 16\nphase p max_tokens=1 tensors=0 tensor_bytes=0 "
                 "result=3:f32[1]\n"));
  auto kernel = parse_plan(
      "buffer 0 frame 16\nphase p max_tokens=1 tensors=0 tensor_bytes=0 "
      "result=0:f32[1]\nstep nothing in 0:f32[1] out 0:f32[1] grid 1 1 1\n");
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().message.find("line 3"), std::string::npos);
}

TEST(ActivationPool, TakesTheSmallestThatFitsThenGrowsTheLargest) {
  ActivationPool pool;
  const uint32_t a = pool.take(100), b = pool.take(50);
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.take(40), b);
  EXPECT_EQ(pool.take(200), a);
  EXPECT_EQ(pool.bytes(), (std::vector<uint64_t>{200, 50}));
  EXPECT_EQ(pool.take(1), 2u);
}

}  // namespace
}  // namespace tokamak
