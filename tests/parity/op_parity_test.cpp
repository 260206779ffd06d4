// Every WGSL kernel against the CPU reference, on the first WebGPU device there is.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/webgpu/adapters.h"
#include "cases.h"
#include "kernel_check.h"

namespace tokamak::parity {
namespace {

/// The device as it is, and what every WebGPU device has: default limits, no optional feature.
enum class Grant { kAll, kMin };

Backend& backend(Grant grant) {
  const auto open = [](const WebGpuOptions& options) {
    auto opened = open_webgpu_backend(options);
    if (opened) return *std::move(opened);
    ADD_FAILURE() << opened.error().message;
    return make_cpu_backend();
  };
  static const std::unique_ptr<Backend> all = open({});
  static const std::unique_ptr<Backend> least =
      open({.disabled = kAllFeatures, .default_limits = true});
  return grant == Grant::kAll ? *all : *least;
}

class OpParity : public testing::TestWithParam<const KernelVariant*> {};

/// A kernel that needs nothing runs with what every device has; its text is always the same.
TEST_P(OpParity, MatchesTheReference) {
  const Features missing = GetParam()->needs & ~backend(Grant::kAll).device().features;
  if (missing != 0) {
    GTEST_SKIP() << GetParam()->name << ": the device lacks " << features_text(missing);
  }
  check(*GetParam(), backend(GetParam()->needs == 0 ? Grant::kMin : Grant::kAll));
}

INSTANTIATE_TEST_SUITE_P(Kernels, OpParity, testing::ValuesIn(variants_for(BackendKind::kWebGpu)),
                         test_name);

/// Without a forced kernel and without any feature, every case finds one.
TEST(OpParityCases, AllRunOnTheLeastDevice) {
  for (size_t op = 0; op < std::variant_size_v<Op>; ++op) {
    const std::vector<Case> cases = cases_of(op_name_at(op));
    EXPECT_FALSE(cases.empty()) << op_name_at(op);
    // Several devices together are CUDA's alone.
    if (op_name_at(op).starts_with("all_")) continue;
    for (const Case& c : cases) {
      const auto plan = plan_of(c, backend(Grant::kMin));
      EXPECT_TRUE(plan) << c.name << ": " << plan.error().message;
    }
  }
}

TEST(FixedPointSums, BeyondWhatTheyHoldAreNoNumbersOnADevice) {
  const Case c = network_beyond_its_sums();
  for (const Grant grant : {Grant::kAll, Grant::kMin}) {
    const parity::Run actual = run(c, backend(grant));
    ASSERT_EQ(actual.results.size(), c.steps.chunks.size());
    for (const float value : actual.results.front()) EXPECT_TRUE(std::isnan(value)) << value;
  }
}

TEST(Sinks, FarBelowEveryScoreChangeNothing) {
  const auto attention = [](bool has_sinks) {
    CaseBuilder b(has_sinks ? "far sinks" : "none here");  // equally long: of the same numbers
    uint32_t slots = 0;
    const ValueId pages = b.pages(40, 0, slots);
    const ValueId cache = b.graph().kv_cache("cache", DType::kF32, slots, 2, 16);
    const ValueId q = b.activation(64), k = b.activation(32), v = b.activation(32);
    const ValueId kv = b.graph().kv_append(k, v, cache, pages);
    std::optional<ValueId> sinks;
    if (has_sinks) sinks = b.constant("sinks", {4}, std::vector<float>(4, -1e30f));
    return b.finish(b.graph().attention(q, kv, pages, {.scale = 0.3f}, sinks), {32, {32, 8}}, 0);
  };
  const std::unique_ptr<Backend> cpu = make_cpu_backend();
  for (Backend* device : {cpu.get(), &backend(Grant::kAll), &backend(Grant::kMin)}) {
    const Case with = attention(true), without = attention(false);
    EXPECT_EQ(run(with, *device).results, run(without, *device).results);
  }
}

TEST(OpParityCases, HaveDifferentNames) {
  for (size_t op = 0; op < std::variant_size_v<Op>; ++op) {
    std::map<std::string, int> names;
    for (const Case& c : cases_of(op_name_at(op))) EXPECT_EQ(++names[c.name], 1) << c.name;
  }
}

}  // namespace
}  // namespace tokamak::parity
