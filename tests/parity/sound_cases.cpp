// Cases of what models that hear have beside the ops of others.
#include <cmath>

#include "cases.h"
#include "graph/kv_cache.h"
#include "steps.h"

namespace tokamak::parity {

std::vector<Case> unfold_cases() {
  struct Shape {
    uint32_t rows, columns;
    Unfold op;
  };
  // The shapes end within the steps, or go on after them.
  const Shape shapes[] = {{1, 1, {.taps = 1}},
                          {40, 3, {.taps = 3, .pad = 1}},
                          {700, 5, {.taps = 7, .stride = 3}},
                          {90, 64, {.taps = 5, .stride = 2, .pad = 4}},
                          {3000, 1, {.taps = 127, .stride = 9, .pad = 2}}};
  std::vector<Case> all;
  for (const Shape& shape : shapes) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("unfold {}x{} taps {} stride {} pad {} {}", shape.rows,
                                shape.columns, shape.op.taps, shape.op.stride, shape.op.pad,
                                label(steps)));
      const ValueId x = b.random("x", {shape.rows, shape.columns});
      all.push_back(b.finish(b.graph().unfold(x, shape.op), steps, kExact));
    }
  }
  return all;
}

std::vector<Case> group_norm_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 64u, 300u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("group_norm {} {}", columns, label(steps)));
      const ValueId x = b.activation(columns, 3);
      const ValueId w = b.random("w", {columns}), bias = b.random("bias", {columns});
      all.push_back(b.finish(b.graph().group_norm(x, w, bias, 1e-3f), steps, kSum));
    }
  }
  return all;
}

namespace {

/// The rows before a convolution's are in its step: sequences begin anew with each.
const Steps kWholeSequences = {150, {150, 1, 7, 64, 65}};

/// Rates of snakes from slow to fast, with one that counts as none.
ValueId snake_rates(CaseBuilder& b, uint32_t columns) {
  std::vector<float> rates(columns / 2);
  for (size_t i = 0; i < rates.size(); ++i) rates[i] = float(i % 7) * 0.9f;
  return b.constant("rates", {Dim{columns / 2}}, rates);
}

}  // namespace

std::vector<Case> half_snake_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {2u, 27u, 300u}) {
    for (const float range : {1.f, 40.f}) {
      CaseBuilder b(fmt::format("half_snake {} up to {} {}", columns, range, label(kChunks)));
      const ValueId x = b.activation(columns, range);
      const ValueId y = b.graph().half_snake(x, snake_rates(b, columns));
      all.push_back(b.finish(y, kChunks, kFunction));
    }
  }
  return all;
}

std::vector<Case> causal_conv_cases() {
  struct Shape {
    uint32_t columns, out, taps, dilation;
    bool snake, adds;
  };
  std::vector<Case> all;
  for (const Shape& shape : {Shape{1, 1, 1, 1, false, false}, Shape{3, 5, 3, 3, true, false},
                             Shape{27, 27, 11, 5, true, true}, Shape{40, 33, 7, 1, false, true},
                             Shape{64, 70, 3, 1, true, true}, Shape{27, 1, 3, 1, true, false}}) {
    CaseBuilder b(fmt::format("causal_conv {} to {} taps {} dilation {}{}{}", shape.columns,
                              shape.out, shape.taps, shape.dilation, shape.snake ? " snake" : "",
                              shape.adds ? " adds" : ""));
    std::vector<ValueId> inputs = {b.activation(shape.columns, 2)};
    inputs.push_back(b.random("w", {shape.out, Dim{shape.columns} * shape.taps}));
    inputs.push_back(b.random("bias", {shape.out}));
    if (shape.snake) inputs.push_back(snake_rates(b, shape.columns));
    if (shape.adds) inputs.push_back(b.activation(shape.out, 3));
    const CausalConv op = {shape.dilation, shape.snake, shape.adds};
    const ValueId y = b.graph().add_node(op, inputs).front();
    all.push_back(b.finish(y, kWholeSequences, shape.snake ? kFunction : kSum));
  }
  return all;
}

std::vector<Case> transposed_conv_cases() {
  struct Shape {
    uint32_t columns, out, rate;
  };
  std::vector<Case> all;
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{6, 3, 2}, Shape{54, 27, 7}, Shape{15, 5, 3}}) {
    CaseBuilder b(
        fmt::format("transposed_conv {} to {} rate {}", shape.columns, shape.out, shape.rate));
    const ValueId x = b.activation(shape.columns, 2);
    const ValueId w = b.random("w", {shape.columns, 2 * Dim{shape.rate}});
    const ValueId y = b.graph().transposed_conv(x, w, b.random("bias", {shape.out}));
    all.push_back(b.finish(y, kWholeSequences, kSum));
  }
  return all;
}

namespace {

/// Attention that is not causal, with an input that has what each row sees; `size` is of that.
Case part_case(std::string_view what, DType cache_type, const Steps& steps, uint32_t head_dim,
               ValueId (CaseBuilder::*seen)(uint32_t), uint32_t size) {
  constexpr uint32_t kHeads = 4;
  CaseBuilder b(fmt::format("attention {}x{} {} {} {} {}", kHeads, head_dim,
                            cache_type_name(cache_type), what, size, label(steps)));
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache = b.graph().kv_cache("cache", cache_type, slots, kHeads, head_dim);
  const uint32_t columns = kHeads * head_dim;
  const ValueId q = b.activation(columns), k = b.activation(columns), v = b.activation(columns);
  const ValueId kv = b.graph().kv_append(k, v, cache, pages);
  const Attention op{.scale = 1 / std::sqrt(float(head_dim)), .causal = false};
  const ValueId y = b.graph().attention(q, kv, pages, op, (b.*seen)(size));
  return b.finish(y, steps, attention_tolerance(cache_type));
}

}  // namespace

void add_attention_to_parts(std::vector<Case>& all, DType cache, const Steps& whole,
                            const Steps& one_by_one) {
  all.push_back(part_case("to the first", cache, whole, 32, &CaseBuilder::ends, 37));
  all.push_back(part_case("to the first", cache, one_by_one, 32, &CaseBuilder::ends, 1));
  all.push_back(part_case("in spans of", cache, whole, 80, &CaseBuilder::spans, 48));
  all.push_back(part_case("in spans of", cache, whole, 20, &CaseBuilder::spans, 7));
}

}  // namespace tokamak::parity
