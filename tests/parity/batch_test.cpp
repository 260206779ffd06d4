// Several sequences in one step: the reference gives each the same bits as alone, and every kernel
// that knows of sequences what the reference gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "backend/webgpu/adapters.h"
#include "base/environment.h"
#include "cases.h"

namespace tokamak::parity {
namespace {

/// Ops whose kernels look at slots, positions or output rows.
constexpr const char* kOps[] = {
    "embed",           "rope",          "kv_append",       "attention",    "step_attention",
    "short_conv",      "gated_delta",   "last_row",        "first_row",    "add_positions",
    "mean_rows",       "block_maxima",  "unfold",          "group_norm",   "topk_blocks",
    "topk_tokens",     "next_token",    "sample_token",    "block_argmax", "causal_conv",
    "transposed_conv", "lora_down",     "lora_up",         "rope_append",  "position_scale",
    "selective_scan",  "latent_append", "latent_attention"};

Backend& cpu() {
  static const std::unique_ptr<Backend> backend = make_cpu_backend();
  return *backend;
}

bool chooses(const Plan& plan) {
  return plan.at(plan.phases[0].result.buffer).use == BufferUse::kSampled;
}

/// The rows of each step that are a sequence's.
std::vector<std::vector<float>> rows_of(const Case& c, const Plan& plan, const Run& batch,
                                        uint32_t sequence) {
  std::vector<std::vector<float>> found;
  const bool is_one_each = plan.phases[0].result.shape[0] == kOutputs;
  for (size_t step = 0; step < batch.results.size(); ++step) {
    const std::vector<Part> parts = parts_of(c, step);
    uint32_t rows = 0, first = 0, own = 0;
    for (const Part& part : parts) {
      if (part.sequence == sequence) {
        first = rows;
        own = is_one_each ? 1 : part.count;
      }
      rows += is_one_each ? 1 : part.count;
    }
    const std::span<const float> all = batch.results[step];
    const size_t columns = all.size() / rows;
    const auto mine = all.subspan(first * columns, own * columns);
    if (own > 0) found.emplace_back(mine.begin(), mine.end());
  }
  return found;
}

class Batch : public testing::TestWithParam<const char*> {};

TEST_P(Batch, GivesEverySequenceTheSameBitsAsAlone) {
  size_t compared = 0;
  for (const Case& c : cases_of(GetParam())) {
    const auto plan = batch_plan_of(c, cpu());
    ASSERT_TRUE(plan) << c.name << ": " << plan.error().message;
    if (chooses(*plan)) continue;
    const parity::Run batch = run_batch(c, cpu(), *plan);
    ASSERT_EQ(batch.results.size(), c.steps.chunks.size());
    for (uint32_t sequence = 0; sequence < kSequences; ++sequence) {
      EXPECT_EQ(rows_of(c, *plan, batch, sequence), run_alone(c, cpu(), sequence).results)
          << c.name << ", sequence " << sequence;
      ++compared;
    }
  }
  const std::string_view op = GetParam();
  EXPECT_TRUE(compared > 0 || op == "next_token" || op == "sample_token");
}

/// The smallest case for quick runs, every one otherwise.
TEST_P(Batch, MatchesTheReferenceOnADevice) {
  const auto opened = open_webgpu_backend({});
  ASSERT_TRUE(opened) << opened.error().message;
  Backend& device = **opened;
  const bool is_quick = environment_variable("TOKAMAK_PARITY") == "smallest";
  size_t compared = 0;
  std::set<std::string_view> tried;
  for (const Case& c : cases_of(GetParam())) {
    for (const KernelVariant& variant : all_variants()) {
      if (variant.backend != BackendKind::kWebGpu || op_name_at(variant.op) != GetParam()) continue;
      if (is_quick && tried.contains(variant.name)) continue;
      if ((variant.needs & ~device.device().features) != 0) continue;
      auto plan = batch_plan_of(c, device, {{GetParam(), std::string(variant.name)}});
      if (!plan) continue;  // another variant's shape
      const auto reference_plan = batch_plan_of(c, cpu());
      ASSERT_TRUE(reference_plan);
      Case own = c;
      own.tolerance += 3 * variant.rounding;
      SCOPED_TRACE(variant.name);
      expect_close(own, run_batch(c, cpu(), *reference_plan), run_batch(c, device, *plan));
      tried.insert(variant.name);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ops, Batch, testing::ValuesIn(kOps),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tokamak::parity
