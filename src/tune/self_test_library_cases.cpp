#include "tune/self_test_writer.h"

namespace tokamak {
namespace {

using Writer = SelfTestWriter;
constexpr uint32_t kColumns = 264, kRows = 40;
/// A sum that is off by some units of f32 may be rounded to the bf16 beside the right one.
constexpr double kRounded = kSelfTestFunction + 3 * 0x1p-8;

}  // namespace

void add_library_cases(std::vector<SelfTestCase>& all, const SelfTestSteps& steps) {
  const auto product = [](Writer& w, ValueId x, ValueId matrix) {
    return w.graph().add_node(Bf16Linear{8, kRows - 8}, {x, matrix}).front();
  };
  const auto in_bf16 = [](Writer& w, ValueId x) {
    return w.graph().add_node(ToBf16{}, {x}).front();
  };
  const auto matrix = [](Writer& w) { return w.random("w", {kRows, kColumns}, DType::kBF16); };
  for (const std::string_view op : {ToBf16::kName, Bf16Linear::kName}) {
    Writer w(fmt::format("{} {}x{}", op, kRows, kColumns), op);
    const ValueId x = in_bf16(w, w.activation(kColumns));
    all.push_back(w.finish(product(w, x, matrix(w)), steps, kSelfTestSum));
  }
  for (const FusedNorm& op : fused_norms(1e-3f)) {
    if (op.summed != op.adds || op.plain) continue;
    Writer w(fmt::format("fused_norm {}{}{} {}", op.centered ? "layer" : "rms",
                         op.adds ? " adds" : "", op.rounded ? " rounded" : "", kColumns),
             FusedNorm::kName);
    std::vector<ValueId> inputs = {w.activation(kColumns)};
    if (op.adds) inputs.push_back(w.activation(kColumns));
    inputs.push_back(w.random("weight", {kColumns}));
    const std::vector<ValueId> made = w.graph().add_node(op, inputs);
    const ValueId y = op.rounded ? product(w, made[0], matrix(w)) : made[0];
    const ValueId all_of = op.summed && !op.rounded ? w.graph().add(y, made[1]) : y;
    all.push_back(w.finish(all_of, steps, kSelfTestSum));
  }
  for (const Activation activation : {Activation::kIdentity, Activation::kSilu}) {
    Writer w(fmt::format("pair_glu {} {}", activation_name(activation), kColumns), PairGlu::kName);
    const ValueId pairs = w.activation(2 * kColumns, 5);
    const ValueId x = w.graph().add_node(PairGlu{activation}, {pairs}).front();
    all.push_back(w.finish(product(w, x, matrix(w)), steps, kSelfTestFunction));
  }
  {
    Writer w(fmt::format("bf16_linear rounded {}x{}", kRows, kColumns), Bf16Linear::kName);
    const Bf16Linear op = {.first = 0, .rows = kRows, .rounded = true};
    const ValueId x =
        w.graph().add_node(op, {in_bf16(w, w.activation(kColumns)), matrix(w)}).front();
    const ToBf16 activated = {Activation::kSilu};
    const ValueId y = w.graph().add_node(activated, {x, w.random("bias", {kRows})}).front();
    const ValueId v = w.random("v", {kRows, kRows}, DType::kBF16);
    all.push_back(w.finish(product(w, y, v), steps, kRounded));
  }
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kQ8_0}) {
    constexpr uint32_t kPackedColumns = 256;
    Writer w(fmt::format("to_bf16 of {}", dtype_name(dtype)), ToBf16::kName);
    // Of another op, and exact: all to_bf16 of a case have the same kernel.
    const PairGlu products = {Activation::kIdentity};
    const ValueId x = w.graph().add_node(products, {w.activation(2 * kPackedColumns)}).front();
    const ValueId weights = in_bf16(w, w.random("w", {kRows, kPackedColumns}, dtype));
    all.push_back(w.finish(product(w, x, weights), steps, kSelfTestSum));
  }
}

}  // namespace tokamak
