// Cases around the products of a vendor's library. What is rounded to bf16 shows in a product of
// it.
#include "cases.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

ValueId in_half(CaseBuilder& b, ValueId x, Half type = Half::kBf16) {
  return b.graph().add_node(ToHalf{.type = type}, {x}).front();
}

/// An activation that is off by some units of f32 may be rounded to the bf16 beside the right one.
constexpr double kActivated = kFunction + 3 * 0x1p-8;

/// Makes f32 of x, which a case must have in the end.
ValueId values(CaseBuilder& b, ValueId x, uint32_t columns, Half type = Half::kBf16) {
  const ValueId w = b.random("w", {24, columns}, half_dtype(type));
  return b.graph().add_node(HalfLinear{8, 16}, {x, w}).front();
}

}  // namespace

std::vector<Case> to_half_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {8u, 264u, 648u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("to_half of rows of {} {}", columns, label(steps)));
      const ValueId x = in_half(b, b.activation(columns, 300));
      all.push_back(b.finish(values(b, x, columns), steps, kSum));
    }
    // Beyond f16, and below its normal numbers.
    for (const float range : {1e6f, 1e-4f}) {
      CaseBuilder b(fmt::format("to_half f16 of rows of {} up to {}", columns, range));
      const ValueId x = in_half(b, b.activation(columns, range), Half::kF16);
      all.push_back(b.finish(values(b, x, columns, Half::kF16), kChunks, kSum));
    }
  }
  for (const Activation activation : kActivations) {
    CaseBuilder b(fmt::format("to_half of {}", activation_name(activation)));
    const ValueId x = b.graph().add_node(ToHalf{activation}, {b.activation(264, 5)}).front();
    all.push_back(b.finish(values(b, x, 264), kChunks, kActivated));
  }
  for (const Half half : kHalves) {
    const Half type = half == Half::kF16 ? Half::kF16 : Half::kBf16;
    CaseBuilder b(fmt::format("to_half of {} with a bias", dtype_name(half_dtype(half))));
    ValueId x = b.activation(264, 5);
    // The output of another op: all to_half of a case have the same kernel.
    if (half != Half::kNone) {
      x = b.graph().add_node(PairGlu{Activation::kIdentity, half}, {b.activation(528, 2)}).front();
    }
    const ToHalf op = {Activation::kGeluTanh, type};
    x = b.graph().add_node(op, {x, b.random("bias", {264}, DType::kF32, 2)}).front();
    all.push_back(b.finish(values(b, x, 264, type), kChunks, kActivated));
  }
  std::vector<DType> types = packed_types();
  types.insert(types.end(), {DType::kF32, DType::kF16});
  for (const DType dtype : types) {
    CaseBuilder b(fmt::format("to_half of {}", dtype_name(dtype)));
    const uint32_t columns = is_packed(dtype) ? 2 * weight_format(dtype).row_unit() : 72;
    // The output of another op, and exact: all to_half of a case have the same kernel.
    const PairGlu products = {Activation::kIdentity};
    const ValueId x = b.graph().add_node(products, {b.activation(2 * columns)}).front();
    const ValueId w = in_half(b, b.random("w", {40, columns}, dtype));
    const ValueId y = b.graph().add_node(HalfLinear{0, 40}, {x, w}).front();
    all.push_back(b.finish(y, kChunks, kSum));
  }
  return all;
}

std::vector<Case> half_linear_cases() {
  std::vector<Case> all;
  bool has_bias = false;
  for (const auto& [in, out] : {std::pair{8u, 8u}, {64u, 136u}, {520u, 24u}, {2048u, 72u}}) {
    for (const Steps& steps : {kOneByOne, kSmallBatchSteps, kChunks}) {
      const Half type = in == 64 ? Half::kF16 : Half::kBf16;
      CaseBuilder b(
          fmt::format("half_linear {}x{}{} {}", out, in, has_bias ? " bias" : "", label(steps)));
      const ValueId x = in_half(b, b.activation(in), type);
      const ValueId w = b.random("w", {out + 16, in}, half_dtype(type));
      std::vector<ValueId> inputs = {x, w};
      if (has_bias) inputs.push_back(b.random("bias", {out + 16}, DType::kF32, 9));
      const ValueId y = b.graph().add_node(HalfLinear{8, out}, inputs).front();
      all.push_back(b.finish(y, steps, kSum));
      has_bias = !has_bias;
    }
  }
  for (const Half type : {Half::kBf16, Half::kF16}) {
    CaseBuilder b(fmt::format("half_linear rounded {}", kHalfNames[size_t(type)]));
    const ValueId w = b.random("w", {136, 64}, half_dtype(type));
    const HalfLinear op = {.first = 8, .rows = 120, .rounded = true};
    const ValueId x = b.graph().add_node(op, {in_half(b, b.activation(64), type), w}).front();
    // A second product, whose sums show what was rounded.
    const ValueId v = b.random("v", {16, 120}, half_dtype(type));
    const ValueId y = b.graph().add_node(HalfLinear{.first = 0, .rows = 16}, {x, v}).front();
    all.push_back(b.finish(y, kChunks, kActivated));
  }
  return all;
}

std::vector<Case> fused_norm_cases() {
  std::vector<Case> all;
  for (const FusedNorm& op : fused_norms(1e-3f)) {
    for (const uint32_t columns : {16u, 264u, 1032u}) {
      // The kernel that rounds to f16 differs from that for bf16 by one function alone.
      if (op.rounded == Half::kF16 && (columns != 264 || op.plain)) continue;
      const bool has_bias = op.centered && columns != 264;
      CaseBuilder b(fmt::format(
          "fused_norm {}{}{}{}{}{} {}", op.centered ? "layer" : "rms", op.adds ? " adds" : "",
          op.rounded == Half::kNone ? "" : fmt::format(" {}", kHalfNames[size_t(op.rounded)]),
          op.summed ? " summed" : "", op.plain ? " plain" : "", has_bias ? " bias" : "", columns));
      std::vector<ValueId> inputs = {b.activation(columns)};
      if (op.adds) inputs.push_back(b.activation(columns, 3));
      inputs.push_back(b.random("weight", {columns}));
      if (has_bias) inputs.push_back(b.random("bias", {columns}));
      const std::vector<ValueId> made = b.graph().add_node(op, inputs);
      const auto first = [&](ValueId x) { return b.graph().columns(x, 0, 16); };
      ValueId y =
          op.rounded == Half::kNone ? first(made[0]) : values(b, made[0], columns, op.rounded);
      for (size_t i = 1; i < made.size(); ++i) {
        y = b.graph().add(b.graph().scale(y, 0.5f), first(made[i]));
      }
      all.push_back(b.finish(y, columns == 16 ? kOneByOne : kChunks, kSum));
    }
  }
  return all;
}

std::vector<Case> norm_add_cases() {
  std::vector<Case> all;
  for (const NormAdd& op : norm_adds(1e-3f, 0.75f)) {
    for (const uint32_t columns : {16u, 264u, 1032u}) {
      // The kernel that rounds to f16 differs from that for bf16 by one function alone.
      if (op.rounded == Half::kF16 && columns != 264) continue;
      const uint32_t heads = op.normed || columns == 1032 ? 1 : 2;
      CaseBuilder b(fmt::format(
          "norm_add{}{}{} {}x{}", op.scaled ? " scaled" : "", op.normed ? " normed" : "",
          op.rounded == Half::kNone ? "" : fmt::format(" {}", kHalfNames[size_t(op.rounded)]),
          heads, columns / heads));
      std::vector<ValueId> inputs = {b.activation(columns), b.activation(columns, 3),
                                     b.random("weight", {columns / heads})};
      if (op.scaled) inputs.push_back(b.random("factor", {1}));
      if (op.normed) inputs.push_back(b.random("norm", {columns}));
      const std::vector<ValueId> made = b.graph().add_node(op, inputs);
      const auto first = [&](ValueId x) { return b.graph().columns(x, 0, 16); };
      ValueId y = first(made.back());
      if (op.normed) {
        const ValueId norm =
            op.rounded == Half::kNone ? first(made[0]) : values(b, made[0], columns, op.rounded);
        y = b.graph().add(norm, b.graph().scale(y, 0.5f));
      }
      all.push_back(b.finish(y, columns == 16 ? kOneByOne : kChunks, kSum));
    }
  }
  return all;
}

std::vector<Case> pair_glu_cases() {
  std::vector<Case> all;
  for (const Activation activation : kActivations) {
    for (const uint32_t columns : {8u, 264u, 648u}) {
      CaseBuilder b(fmt::format("pair_glu {} {}", activation_name(activation), columns));
      const ValueId pairs = b.activation(2 * columns, 5);
      const ValueId x = b.graph().add_node(PairGlu{activation}, {pairs}).front();
      all.push_back(b.finish(values(b, x, columns), kChunks, kFunction));
    }
  }
  for (const Half type : {Half::kBf16, Half::kF16}) {
    CaseBuilder b(fmt::format("pair_glu of {}", kHalfNames[size_t(type)]));
    const ValueId pairs = in_half(b, b.activation(528, 5), type);
    const ValueId x = b.graph().add_node(PairGlu{Activation::kSilu, type}, {pairs}).front();
    all.push_back(b.finish(values(b, x, 264, type), kChunks, kFunction));
  }
  return all;
}

std::vector<Case> gated_half_cases() {
  struct Kind {
    uint32_t columns, wide, first, head;  // head 0: no norm
  };
  std::vector<Case> all;
  for (const Kind& kind : {Kind{264, 264, 0, 0}, Kind{40, 96, 16, 0}, Kind{8, 8, 0, 4},
                           Kind{768, 768, 0, 128}, Kind{96, 96, 0, 32}, Kind{64, 128, 32, 32}}) {
    for (const Half type : {Half::kBf16, Half::kF16}) {
      CaseBuilder b(fmt::format("gated_half {} of {} {} {}", kind.columns, kind.wide, kind.head,
                                kHalfNames[size_t(type)]));
      const GatedHalf op = {
          .activation = type == Half::kF16 ? Activation::kSigmoid : Activation::kSilu,
          .first = kind.first,
          .eps = 1e-5f,
          .type = type};
      std::vector<ValueId> inputs = {b.activation(kind.columns, 5), b.activation(kind.wide)};
      if (kind.head != 0) inputs.push_back(b.random("norm", {kind.head}));
      const ValueId x = b.graph().add_node(op, inputs).front();
      all.push_back(b.finish(values(b, x, kind.columns, type), kChunks, kFunction));
    }
  }
  return all;
}

}  // namespace tokamak::parity
