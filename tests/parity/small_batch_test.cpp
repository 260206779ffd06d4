// The rows that products of a few tokens leave alone: those after the last token.
#include <gtest/gtest.h>

#include <bit>

#include "backend/webgpu/adapters.h"
#include "case.h"

namespace tokamak::parity {
namespace {

constexpr uint32_t kTokensFed = 3, kRows = 70;

/// Reads all rows that the (last) output has room for, after a step of some of them.
void expect_untouched(Backend& backend, const Op& op, const std::string& variant,
                      DType dtype = DType::kBF16, uint32_t max = 8) {
  CaseBuilder b("small_batch " + variant);
  const ValueId x = b.activation(288), w = b.random("w", {kRows, 288}, dtype);
  const auto outputs = b.graph().add_node(op, {x, w});
  const Case c = b.finish(outputs.back(), {max, {kTokensFed}}, 0);
  auto plan = plan_of(c, backend, {{std::string(op_name(op)), variant}});
  ASSERT_TRUE(plan) << plan.error().message;
  const auto program = start(c, backend, *std::move(plan));
  ASSERT_NE(program, nullptr);
  Operand written = program->plan().phases[0].result;
  const size_t columns = size_t(written.shape[1]);
  written.shape[0] = max;
  std::vector<float> rows;
  const std::vector<uint32_t> tokens(kTokensFed, 1);
  StepRequest request{.phase = 0,
                      .slots = {{.count = kTokensFed, .length = kTokensFed}},
                      .tokens = tokens,
                      .done = {}};
  request.result = &written;
  request.done = [&](Result<std::span<const float>> result) {
    ASSERT_TRUE(result) << result.error().message;
    rows.assign(result->begin(), result->end());
  };
  ASSERT_TRUE(program->submit(request));
  ASSERT_TRUE(program->wait());
  ASSERT_EQ(rows.size(), max * columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_noise = std::bit_cast<uint32_t>(rows[i]) == kNoise;
    ASSERT_EQ(is_noise, i >= kTokensFed * columns) << variant << ", element " << i;
  }
}

TEST(SmallBatch, LeaveRowsAfterTheLastAlone) {
  const auto opened = open_webgpu_backend({});
  ASSERT_TRUE(opened) << opened.error().message;
  Backend& backend = **opened;
  const bool subgroups =
      (backend.device().features & kFeatureSubgroups) != 0 && backend.device().subgroup_max <= 32;
  const bool bytes = subgroups && (backend.device().features & kFeatureDot4) != 0 &&
                     backend.device().subgroup_min >= 32;
  for (const Op& op : {Op{Linear{}}, Op{Qkv{10, 20}}, Op{LinearGlu{}}}) {
    expect_untouched(backend, op, fmt::format("{}.wgsl.small_batch", op_name(op)));
    if (subgroups) {
      expect_untouched(backend, op, fmt::format("{}.wgsl.small_batch_subgroup", op_name(op)));
    }
    if (bytes) {
      expect_untouched(backend, op, fmt::format("{}.wgsl.small_batch_dot4", op_name(op)),
                       DType::kQ4_0, 4);
    }
  }
}

}  // namespace
}  // namespace tokamak::parity
