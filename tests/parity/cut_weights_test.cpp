// Weights that are cut by rows against the same weights in one piece, on the same device.
#include <gtest/gtest.h>

#include "backend/webgpu/adapters.h"
#include "base/packing.h"
#include "case.h"
#include "limited_backend.h"

namespace tokamak::parity {
namespace {

Backend& device() {
  static const std::unique_ptr<Backend> opened = [] {
    auto webgpu = open_webgpu_backend({});
    if (webgpu) return *std::move(webgpu);
    ADD_FAILURE() << webgpu.error().message;
    return make_cpu_backend();
  }();
  return *opened;
}

/// Runs `c` with and without parts; every row's sum is the same sum, so the bits are equal.
void expect_same_bits(const Case& c, uint64_t binding_bytes, size_t parts) {
  LimitedBackend limited(device(), binding_bytes);
  const auto plan = plan_of(c, limited);
  ASSERT_TRUE(plan) << c.name << ": " << plan.error().message;
  size_t cut = 0;
  for (const Step& step : plan->phases[0].steps) cut += step.cut.total != 0;
  EXPECT_EQ(cut, parts) << c.name;
  const Run whole = run(c, device()), in_parts = run(c, limited);
  ASSERT_EQ(whole.results.size(), c.steps.chunks.size());
  EXPECT_EQ(whole.results, in_parts.results) << c.name;
}

struct CutWeights : testing::TestWithParam<const char*> {
  DType dtype = dtype_from_name(GetParam()).value();
};

// In three parts, of which only the last is odd; large enough that nothing else is cut.
constexpr uint32_t kRows = 1001, kPartRows = 384;

TEST_P(CutWeights, GiveTheSameProducts) {
  const uint32_t in = 3 * (is_packed(dtype) ? weight_format(dtype).row_unit() : 64);
  for (const uint32_t tokens : {1u, 4u}) {
    CaseBuilder b(fmt::format("linear {} by {}", GetParam(), tokens));
    const ValueId x = b.activation(in);
    const ValueId w = b.random("w", {kRows, in}, dtype), bias = b.random("bias", {kRows});
    const Case c = b.finish(b.graph().linear(x, w, bias), {tokens, {tokens, tokens}}, 0);
    expect_same_bits(c, matrix_bytes(dtype, kPartRows, in), 3);
  }
}

TEST_P(CutWeights, GiveTheSameEmbeddings) {
  const uint32_t columns = 2 * (is_packed(dtype) ? weight_format(dtype).row_unit() : 64);
  CaseBuilder b(fmt::format("embed {}", GetParam()));
  const ValueId table = b.random("table", {kVocab, columns}, dtype);
  const ValueId y = b.graph().add_node(Embed{2.5f}, {ValueId{0}, table}).front();
  const Case c = b.finish(y, {2, {2, 1, 2, 2, 2, 2, 2, 2}}, 0);
  expect_same_bits(c, matrix_bytes(dtype, 22, columns), 2);
}

/// Five experts in parts of two.
TEST_P(CutWeights, GiveTheSameProductsOfExperts) {
  constexpr uint32_t kExperts = 5, kOut = kPartRows / 2;
  const uint32_t whole_blocks = 3 * (is_packed(dtype) ? weight_format(dtype).row_unit() : 64);
  for (const uint32_t in : {whole_blocks, 68u}) {  // the second is no multiple of 8
    if (in != whole_blocks && is_packed(dtype)) continue;
    for (const uint32_t tokens : {1u, 4u}) {
      CaseBuilder b(fmt::format("expert_linear {} {} by {}", GetParam(), in, tokens));
      const ValueId logits = b.activation(kExperts, 4), x = b.activation(in);
      const ValueId w = b.random("w", {kExperts * kOut, in}, dtype);
      const auto routed = b.graph().route(logits, {.top_k = 3});
      const ValueId y = b.graph().expert_linear(x, w, routed.chosen, kExperts);
      expect_same_bits(b.finish(y, {tokens, {tokens, tokens}}, 0),
                       matrix_bytes(dtype, kPartRows, in), 3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CutWeights,
                         testing::Values("f32", "f16", "bf16", "q4_0", "q5_k", "q6_k",
                                         "zero4_g32_f16"),
                         [](const auto& param) { return std::string(param.param); });

/// The parts of qkv do not end where q, k and v do.
TEST(CutWeightsOfFusedOps, GiveTheSameResults) {
  for (const uint32_t tokens : {1u, 4u}) {
    CaseBuilder both(fmt::format("qkv by {}", tokens));
    const ValueId x = both.activation(64), w = both.random("w", {kRows, 64}, DType::kQ4_0);
    const auto parts = both.graph().add_node(Qkv{345, 345}, {x, w});
    const ValueId sum = both.graph().add(parts[0], both.graph().scale(parts[1], 2));
    const Case q_and_k = both.finish(sum, {tokens, {tokens, tokens}}, 0);
    expect_same_bits(q_and_k, matrix_bytes(DType::kQ4_0, kPartRows, 64), 3);
  }
  for (const uint32_t tokens : {1u, 4u}) {
    CaseBuilder b(fmt::format("linear_glu by {}", tokens));
    const ValueId x = b.activation(64), w = b.random("w", {kRows + 1, 64}, DType::kBF16);
    const ValueId y = b.graph().add_node(LinearGlu{}, {x, w}).front();
    expect_same_bits(b.finish(y, {tokens, {tokens, tokens}}, 0),
                     matrix_bytes(DType::kBF16, kPartRows, 64), 3);
  }
}

/// A state of which every part has its own columns.
TEST(CutWeightsOfFusedOps, ConvolveTheSame) {
  constexpr Dim kConvolved = 700;
  CaseBuilder b("fused_linear conv");
  const ValueId x = b.activation(64), w = b.random("w", {kRows, 64}, DType::kBF16);
  const ValueId taps = b.random("taps", {kConvolved, 4});
  const ValueId state = b.graph().recurrent("rows", {3, kConvolved});
  const ValueId y =
      b.graph().add_node(FusedLinear{.epilogue = Epilogue::kConv}, {x, w, taps, state}).front();
  expect_same_bits(b.finish(y, {1, {1, 1, 1, 1, 1}}, 0), matrix_bytes(DType::kBF16, kPartRows, 64),
                   3);
}

/// Sums over experts are made part by part: close, not equal.
TEST(CutWeightsOfFusedOps, AddUpExperts) {
  constexpr uint32_t kExperts = 5, kIn = 96, kOut = kPartRows / 2;
  CaseBuilder b("expert_glu and expert_mix");
  const auto routed = b.graph().route(b.activation(kExperts, 4), {.top_k = 3});
  const ValueId up = b.random("up", {kExperts * kOut, kIn}, DType::kF16, 0.3f);
  const ValueId down = b.random("down", {kExperts * kOut, kOut / 2}, DType::kF16, 0.3f);
  const ValueId h =
      b.graph().add_node(ExpertGlu{kExperts}, {b.activation(kIn), up, routed.chosen}).front();
  const ValueId r = b.activation(kOut);
  const ValueId y =
      b.graph().add_node(ExpertMix{kExperts}, {h, down, routed.chosen, routed.shares, r}).front();
  const Case c = b.finish(y, {1, std::vector<uint32_t>(8, 1)}, 4e-6);
  LimitedBackend limited(device(), matrix_bytes(DType::kF16, kPartRows, kIn));
  expect_close(c, run(c, device()), run(c, limited));
}

}  // namespace
}  // namespace tokamak::parity
