// Cases of the ops in kernels/experts.
#include <cmath>
#include <limits>
#include <optional>

#include "cases.h"
#include "graph/text.h"
#include "steps.h"

namespace tokamak::parity {
namespace {

/// The steps of kChunks, with fewer tokens at once.
const Steps kSlots = {80, {1, 3, 17, 64, 65, 80, 2}};

const Steps& steps_of(bool many) {
  return many ? kSlots : kOneByOne;
}

/// A number for every chosen expert: f32 [T, top_k].
ValueId numbers(CaseBuilder& b, ValueId chosen, uint32_t experts) {
  const ValueId one =
      b.graph().embed(ValueId{0}, b.constant("one", {kVocab, 1}, std::vector<float>(kVocab, 1)));
  std::vector<float> values(experts);
  for (uint32_t e = 0; e < experts; ++e) values[e] = float(e) / float(experts);
  const ValueId w = b.constant("numbers", {experts, 1}, values);
  return b.graph().expert_linear(one, w, chosen, experts);
}

/// Logits in which equal ones, NaN and infinities stand side by side. Only the choice is compared:
/// shares of NaN are NaN.
Case awkward_route_case(bool many) {
  constexpr uint32_t kExperts = 37;
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f, -0.0f, 1, -1, kInfinite, 1, std::nanf(""), -kInfinite, 2, -1, 0};
  std::vector<float> table;
  for (uint32_t i = 0; i < kVocab * kExperts; ++i) {
    const uint32_t row = i / kExperts;
    // Rows without NaN, rows with some, a row of nothing else.
    const float value = values[(i * i + row) % 11];
    table.push_back(row == 3 ? std::nanf("") : row % 2 == 0 && value != value ? 1.0f : value);
  }
  CaseBuilder b(fmt::format("route of equal logits and NaN {}", many));
  const ValueId logits =
      b.graph().embed(ValueId{0}, b.constant("logits", {kVocab, kExperts}, table));
  const auto routed = b.graph().route(logits, {.top_k = 9});
  return b.finish(numbers(b, routed.chosen, kExperts), steps_of(many), kSum);
}

/// Experts that are chosen by more than their logits, with a scale of each in steps of many tokens.
Case route_by_value_case(const Route& op, bool many) {
  constexpr uint32_t kExperts = 32;
  CaseBuilder b(fmt::format("route{} {}", attributes_text(Op(op)), many));
  const ValueId logits = b.activation(kExperts, 3);
  std::optional<ValueId> scale, bias;
  if (many) scale = b.random("scale", {kExperts});
  if (op.biased) bias = b.random("bias", {kExperts});
  const auto routed = b.graph().route(logits, op, scale, bias);
  const ValueId chosen = numbers(b, routed.chosen, kExperts);
  return b.finish(b.graph().add(chosen, routed.shares), steps_of(many), kFunction);
}

struct ProductShape {
  uint32_t experts, top_k, out, in;
  bool row_per_slot = false;
  bool bias = false;
};

Case product_case(const ProductShape& shape, DType dtype, const Steps& steps) {
  CaseBuilder b(fmt::format("expert_linear {} {} of {} {}x{}{}{} {}", dtype_name(dtype),
                            shape.top_k, shape.experts, shape.out, shape.in,
                            shape.row_per_slot ? " of rows" : "", shape.bias ? " bias" : "",
                            steps.max_tokens));
  const ValueId logits = b.activation(shape.experts, 4);
  const ValueId x = b.activation(shape.in * (shape.row_per_slot ? shape.top_k : 1));
  const ValueId w = b.random("w", {shape.experts * shape.out, shape.in}, dtype);
  const auto routed = b.graph().route(logits, {.top_k = shape.top_k});
  std::vector<ValueId> inputs = {x, w, routed.chosen};
  if (shape.bias) inputs.push_back(b.random("bias", {shape.experts * shape.out}));
  const ValueId y = b.graph().add_node(ExpertLinear{shape.experts}, std::move(inputs)).front();
  return b.finish(y, steps, kSum);
}

}  // namespace

std::vector<Case> route_cases() {
  struct RouteShape {
    uint32_t experts, top_k;
  };
  std::vector<Case> all;
  bool turn = false;
  for (const RouteShape shape :
       std::vector<RouteShape>{{1, 1}, {3, 2}, {8, 8}, {60, 4}, {128, 8}, {513, 3}}) {
    for (const bool many : {false, true}) {
      turn = !turn;
      CaseBuilder b(fmt::format("route {} of {} {}", shape.top_k, shape.experts, many));
      const ValueId logits = b.activation(shape.experts, 4);
      std::optional<ValueId> scale;
      if (turn) scale = b.random("scale", {shape.experts});
      const auto routed = b.graph().route(
          logits, {.top_k = shape.top_k, .normalize = shape.experts % 3 != 0}, scale);
      const ValueId chosen = numbers(b, routed.chosen, shape.experts);
      const ValueId y = b.graph().add(chosen, routed.shares);
      all.push_back(b.finish(y, steps_of(many), kFunction));
    }
    turn = !turn;
  }
  for (const bool many : {false, true}) {
    CaseBuilder b(fmt::format("route with a factor {}", many));
    const auto routed =
        b.graph().route(b.activation(8, 4), {.top_k = 3, .normalize = many, .factor = 0.3f});
    all.push_back(b.finish(routed.shares, steps_of(many), kFunction));
  }
  for (const Route& op : {
           Route{.top_k = 4, .groups = 4, .groups_used = 2, .scaled = 1.5f},
           Route{.top_k = 3, .score = Score::kSigmoid, .eps = 1e-6f},
           Route{.top_k = 5,
                 .score = Score::kSigmoid,
                 .biased = true,
                 .groups = 8,
                 .groups_used = 3,
                 .group_by = GroupBy::kTwo,
                 .eps = 1e-20f,
                 .scaled = 2.5f},
           Route{.top_k = 7, .normalize = false, .score = Score::kSigmoid, .biased = true},
       }) {
    for (const bool many : {false, true}) all.push_back(route_by_value_case(op, many));
  }
  for (const bool many : {false, true}) all.push_back(awkward_route_case(many));
  return all;
}

/// 2 of 2: every token chooses every expert, so that an expert has more slots than a tile takes.
std::vector<Case> expert_linear_cases() {
  std::vector<Case> all;
  for (const ProductShape& shape : std::vector<ProductShape>{{1, 1, 1, 8},
                                                             {2, 2, 66, 24},
                                                             {5, 3, 7, 264, true},
                                                             {16, 4, 130, 40},
                                                             {3, 2, 9, 5},
                                                             {4, 3, 3, 67, true}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const bool many : {false, true}) {
        all.push_back(product_case(shape, dtype, steps_of(many)));
      }
    }
  }
  for (const ProductShape& shape : std::vector<ProductShape>{
           {5, 3, 66, 24, false, true}, {5, 3, 7, 264, true, true}, {4, 3, 3, 67, true, true}}) {
    for (const bool many : {false, true}) {
      all.push_back(product_case(shape, DType::kBF16, steps_of(many)));
    }
  }
  for (const char* type : {"q4_0", "q8_0"}) {
    const DType dtype = dtype_from_name(type).value();
    all.push_back(product_case({5, 3, 7, 256, true, true}, dtype, kOneByOne));
    all.push_back(product_case({16, 2, 67, 256}, dtype, kFewSteps));
  }
  // More tokens than one workgroup of matmul looks at.
  all.push_back(product_case({2, 1, 4, 8}, DType::kF16, {1100, {1100, 513, 5}}));
  return all;
}

std::vector<Case> expert_glu_cases() {
  std::vector<Case> all;
  const auto add = [&](ProductShape shape, DType dtype, Activation activation, bool norm,
                       const Steps& steps, bool biased = false, float limit = 0) {
    CaseBuilder b(fmt::format(
        "expert_glu {} {} {} of {} {}x{}{}{}{} {}", activation_name(activation), dtype_name(dtype),
        shape.top_k, shape.experts, shape.out, shape.in, norm ? " norm" : "",
        biased ? " biased" : "", limit > 0 ? " limited" : "", steps.max_tokens));
    const auto routed = b.graph().route(b.activation(shape.experts, 4), {.top_k = shape.top_k});
    std::vector<ValueId> inputs = {b.activation(shape.in)};
    inputs.push_back(b.random("w", {shape.experts * 2 * shape.out, shape.in}, dtype, 0.3f));
    inputs.push_back(routed.chosen);
    if (norm) inputs.push_back(b.random("norm", {shape.in}));
    if (biased) inputs.push_back(b.random("bias", {shape.experts * 2 * shape.out}));
    const ExpertGlu op{.experts = shape.experts,
                       .activation = activation,
                       .norm = norm,
                       .eps = 1e-5f,
                       .bias = biased,
                       .limit = limit};
    const ValueId y = b.graph().add_node(op, std::move(inputs)).front();
    all.push_back(b.finish(y, steps, 4 * kSum));
  };
  bool turn = false;
  for (const ProductShape& shape :
       std::vector<ProductShape>{{1, 1, 1, 8}, {2, 2, 33, 24}, {5, 3, 7, 264}, {16, 4, 66, 40}}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      turn = !turn;
      const Activation activation = turn ? Activation::kSilu : Activation::kGeluTanh;
      add(shape, dtype, activation, !turn, kOneByOne);
      add(shape, dtype, activation, false, kSlots);
    }
  }
  add({4, 2, 6, 256}, dtype_from_name("q4_0").value(), Activation::kSilu, true, kOneByOne);
  add({4, 2, 6, 256}, dtype_from_name("q6_k").value(), Activation::kSilu, false, kSlots);
  for (const char* type : {"bf16", "q4_0"}) {
    for (const bool biased : {false, true}) {
      add({16, 2, 7, 256}, dtype_from_name(type).value(), Activation::kSilu, false, kFewSteps,
          biased);
    }
  }
  for (const float limit : {0.0f, 0.75f}) {
    const DType type = dtype_from_name(limit > 0 ? "mxfp4" : "bf16").value();
    for (const bool norm : {false, true}) {
      add({5, 3, 7, 64}, type, Activation::kSigmoid, norm, kOneByOne, true, limit);
    }
    add({5, 3, 34, 64}, type, Activation::kSigmoid, false, kSlots, true, limit);
  }
  return all;
}

std::vector<Case> expert_mix_cases() {
  std::vector<Case> all;
  bool adds = false;
  for (const ProductShape& shape : std::vector<ProductShape>{{1, 1, 1, 8},
                                                             {2, 2, 66, 24},
                                                             {5, 3, 7, 264},
                                                             {16, 4, 130, 40},
                                                             {4, 2, 6, 256},
                                                             {7, 6, 37, 768}}) {
    for (const char* type : {"f32", "f16", "bf16", "q4_0"}) {
      const DType dtype = dtype_from_name(type).value();
      if (is_packed(dtype) != (shape.in == 768) && shape.in != 256) continue;
      adds = !adds;
      const bool biased = shape.experts == 5 || shape.in == 256;
      CaseBuilder b(fmt::format("expert_mix {} {} of {} {}x{}{}{}", type, shape.top_k,
                                shape.experts, shape.out, shape.in, biased ? " biased" : "",
                                adds ? " adds" : ""));
      const auto routed = b.graph().route(b.activation(shape.experts, 4), {.top_k = shape.top_k});
      std::vector<ValueId> inputs = {b.activation(shape.top_k * shape.in)};
      inputs.push_back(b.random("w", {shape.experts * shape.out, shape.in}, dtype, 0.3f));
      inputs.insert(inputs.end(), {routed.chosen, routed.shares});
      if (biased) inputs.push_back(b.random("bias", {shape.experts * shape.out}));
      if (adds) inputs.push_back(b.activation(shape.out));
      const ExpertMix op{shape.experts, biased};
      const ValueId y = b.graph().add_node(op, std::move(inputs)).front();
      all.push_back(b.finish(y, kOneByOne, 2 * kSum));
    }
  }
  return all;
}

std::vector<Case> expert_columns_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 300u}) {
    for (const bool row_per_slot : {false, true}) {
      for (const bool many : {false, true}) {
        CaseBuilder b(fmt::format("expert_columns {} {} {}", columns, row_per_slot, many));
        const ValueId logits = b.activation(5, 4);
        const ValueId x = b.activation(columns * (row_per_slot ? 3 : 1));
        const auto routed = b.graph().route(logits, {.top_k = 3});
        const ValueId y =
            b.graph().expert_columns(x, b.order("order", {5, columns}), routed.chosen);
        all.push_back(b.finish(y, steps_of(many), 0));
      }
    }
  }
  return all;
}

std::vector<Case> expert_sum_cases() {
  std::vector<Case> all;
  for (const uint32_t top_k : {1u, 2u, 5u}) {
    for (const uint32_t columns : {1u, 7u, 300u}) {
      for (const bool many : {false, true}) {
        CaseBuilder b(fmt::format("expert_sum {} x {} {}", top_k, columns, many));
        const ValueId x = b.activation(top_k * columns), shares = b.activation(top_k);
        const ValueId y = b.graph().expert_sum(x, shares);
        all.push_back(b.finish(y, steps_of(many), kSum));
      }
    }
  }
  return all;
}

}  // namespace tokamak::parity
