// Routing, and products by chosen experts.
#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;

constexpr uint32_t kTop = 3, kColumns = kSelfTestHeads * kSelfTestHead;

/// With biases there is a limit, too.
void add_glu(std::vector<SelfTestCase>& all, uint32_t experts, bool biased,
             const SelfTestSteps& steps, DType dtype = DType::kBF16) {
  const uint32_t in = is_packed(dtype) ? 96 : 72;
  Writer w(fmt::format("expert_glu {} {}x34x{}{}", dtype_name(dtype), experts, in,
                       biased ? " biased" : ""),
           ExpertGlu::kName);
  const ValueId logits = w.activation(experts, 3), x = w.activation(in);
  const ValueId m = w.random("w", {experts * 2 * 34, in}, dtype, 0.3f);
  std::vector<ValueId> inputs = {x, m, w.graph().route(logits, {.top_k = kTop}).chosen};
  if (biased) inputs.push_back(w.random("bias", {experts * 2 * 34}));
  const ExpertGlu op{experts, Activation::kGeluTanh, false, 0, biased, biased ? 1.5f : 0};
  all.push_back(w.finish(w.graph().add_node(op, inputs).front(), steps, 2 * kSelfTestFunction));
}

}  // namespace

// A choice shows in the products: one of a single column gives a number per expert.
void add_experts(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  constexpr uint32_t kExperts = 5;
  {
    Writer w("route 3 of 5", Route::kName);
    const ValueId logits = w.activation(kExperts, 3), one = w.activation(1);
    const ValueId scale = w.random("scale", {kExperts}), m = w.random("w", {kExperts, 1});
    const auto routed = w.graph().route(logits, {.top_k = kTop, .normalize = true}, scale);
    const ValueId y = w.graph().expert_linear(one, m, routed.chosen, kExperts);
    all.push_back(w.finish(w.graph().add(y, routed.shares), steps, kSelfTestFunction));
  }
  {
    constexpr uint32_t kInGroups = 12;
    Writer w("route 3 of 12 in groups", Route::kName);
    const ValueId logits = w.activation(kInGroups, 3), one = w.activation(1);
    const ValueId bias = w.random("bias", {kInGroups}), m = w.random("w", {kInGroups, 1});
    const Route op{.top_k = kTop,
                   .score = Score::kSigmoid,
                   .biased = true,
                   .groups = 4,
                   .groups_used = 2,
                   .group_by = GroupBy::kTwo};
    const auto routed = w.graph().route(logits, op, {}, bias);
    const ValueId y = w.graph().expert_linear(one, m, routed.chosen, kInGroups);
    all.push_back(w.finish(w.graph().add(y, routed.shares), steps, kSelfTestFunction));
  }
  const DType packed = dtype_from_name("q4_0").value();
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, packed}) {
    for (const uint32_t in : {72u, 51u, 96u}) {
      if ((in == 96) != is_packed(dtype)) continue;
      Writer w(fmt::format("expert_linear {} 5x70x{}", dtype_name(dtype), in), ExpertLinear::kName);
      const ValueId logits = w.activation(kExperts, 3), x = w.activation(in);
      const ValueId m = w.random("w", {kExperts * 70, in}, dtype);
      const auto routed = w.graph().route(logits, {.top_k = kTop});
      std::vector<ValueId> inputs = {x, m, routed.chosen};
      if (dtype == DType::kBF16) inputs.push_back(w.random("bias", {kExperts * 70}));
      const ValueId y = w.graph().add_node(ExpertLinear{kExperts}, std::move(inputs)).front();
      all.push_back(w.finish(y, steps, kSelfTestSum));
    }
  }
  {
    std::vector<uint32_t> orders(kExperts * kColumns);
    for (uint32_t i = 0; i < orders.size(); ++i) orders[i] = (i + i / kColumns) % kColumns;
    Writer w(fmt::format("expert_columns {}", kColumns), ExpertColumns::kName);
    const ValueId logits = w.activation(kExperts, 3), x = w.activation(kColumns);
    const auto routed = w.graph().route(logits, {.top_k = kTop});
    const ValueId order = w.constant("orders", {kExperts, kColumns}, orders);
    const ValueId y = w.graph().expert_columns(x, order, routed.chosen);
    all.push_back(w.finish(y, steps, kSelfTestExact));
  }
  for (const bool biased : {false, true}) add_glu(all, kExperts, biased, steps);
  add_glu(all, kExperts, false, steps, packed);
  Writer w("expert_sum 3 x 131", ExpertSum::kName);
  const ValueId x = w.activation(kTop * 131), shares = w.activation(kTop);
  all.push_back(w.finish(w.graph().expert_sum(x, shares), steps, kSelfTestSum));
}

void add_many_experts(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  for (const bool biased : {false, true}) add_glu(all, 24, biased, steps);
}

}  // namespace tokamak
