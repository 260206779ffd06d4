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
    return w.graph().add_node(HalfLinear{8, kRows - 8}, {x, matrix}).front();
  };
  const auto in_half = [](Writer& w, ValueId x, Half type) {
    return w.graph().add_node(ToHalf{.type = type}, {x}).front();
  };
  const auto matrix = [](Writer& w, Half type) {
    return w.random("w", {kRows, kColumns}, half_dtype(type));
  };
  for (const Half type : {Half::kBf16, Half::kF16}) {
    const std::string_view name = kHalfNames[size_t(type)];
    for (const std::string_view op : {ToHalf::kName, HalfLinear::kName}) {
      Writer w(fmt::format("{} {} {}x{}", op, name, kRows, kColumns), op);
      const ValueId x = in_half(w, w.activation(kColumns), type);
      all.push_back(w.finish(product(w, x, matrix(w, type)), steps, kSelfTestSum));
    }
    Writer w(fmt::format("half_linear rounded {} {}x{}", name, kRows, kColumns), HalfLinear::kName);
    const HalfLinear op = {.first = 0, .rows = kRows, .rounded = true};
    const ValueId rounded = in_half(w, w.activation(kColumns), type);
    const ValueId x = w.graph().add_node(op, {rounded, matrix(w, type)}).front();
    const ToHalf activated = {Activation::kSilu, type};
    const ValueId y = w.graph().add_node(activated, {x, w.random("bias", {kRows})}).front();
    const ValueId v = w.random("v", {kRows, kRows}, half_dtype(type));
    all.push_back(w.finish(product(w, y, v), steps, kRounded));
  }
  for (const Half type : {Half::kBf16, Half::kF16}) add_norms_rounded_to(type, all, steps);
  for (const Activation activation : {Activation::kIdentity, Activation::kSilu}) {
    Writer w(fmt::format("pair_glu {} {}", activation_name(activation), kColumns), PairGlu::kName);
    const ValueId pairs = w.activation(2 * kColumns, 5);
    const ValueId x = w.graph().add_node(PairGlu{activation}, {pairs}).front();
    all.push_back(w.finish(product(w, x, matrix(w, Half::kBf16)), steps, kSelfTestFunction));
  }
  for (const uint32_t head : {0u, 8u}) {
    Writer w(fmt::format("gated_half {} {}", kColumns, head), GatedHalf::kName);
    std::vector<ValueId> inputs = {w.activation(kColumns, 5), w.activation(kColumns)};
    if (head != 0) inputs.push_back(w.random("norm", {head}));
    const ValueId x = w.graph().add_node(GatedHalf{.eps = 1e-5f}, inputs).front();
    all.push_back(w.finish(product(w, x, matrix(w, Half::kBf16)), steps, kSelfTestFunction));
  }
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kQ8_0}) {
    constexpr uint32_t kPackedColumns = 256;
    Writer w(fmt::format("to_half of {}", dtype_name(dtype)), ToHalf::kName);
    // The output of another op, and exact: all to_half of a case have the same kernel.
    const PairGlu products = {Activation::kIdentity};
    const ValueId x = w.graph().add_node(products, {w.activation(2 * kPackedColumns)}).front();
    const ValueId weights = in_half(w, w.random("w", {kRows, kPackedColumns}, dtype), Half::kBf16);
    all.push_back(w.finish(product(w, x, weights), steps, kSelfTestSum));
  }
}

}  // namespace tokamak
