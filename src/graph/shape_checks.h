// The checks that the shape rules of shapes.cpp have for operands.
#pragma once
#include <string_view>
#include <vector>

#include "base/packing.h"
#include "graph/graph.h"
#include "graph/kv_cache.h"

namespace tokamak {

inline TensorDesc matrix(Dim rows, Dim columns) {
  return {.name = {}, .shape = {rows, columns}, .dtype = DType::kF32};
}

inline bool is_activation(const TensorDesc& t) {
  return t.shape.size() == 2 && t.dtype == DType::kF32;
}

/// A row of fixed-point sums.
inline TensorDesc sums(Dim rows, Dim columns) {
  return {.name = {}, .shape = {rows, 2 * columns}, .dtype = DType::kI32};
}

inline bool are_sums(const TensorDesc& t) {
  return t.shape.size() == 2 && t.dtype == DType::kI32 && t.shape[1] % 2 == 0;
}

/// A weight [rows, columns], packed or not; packed rows are whole groups.
inline bool is_matrix(const TensorDesc& t) {
  if (t.shape.size() != 2 || !is_matrix_dtype(t.dtype)) return false;
  return !is_packed(t.dtype) || t.shape[1] % Dim{weight_format(t.dtype).row_unit()} == 0;
}

/// The operands of one node; a failed check names the op, the operand, its shape and the one it
/// must have.
struct ShapeChecks {
  const std::vector<const TensorDesc*>& in;
  std::string_view name;

  Failure wrong(size_t operand, std::string_view expected) const {
    return invalid_input("{}: operand {} is {}, expected {}", name, operand,
                         type_text(*in[operand]), expected);
  }
  Result<void> count(size_t low, size_t high) const {
    if (in.size() >= low && in.size() <= high) return {};
    return invalid_input("{} has {} operands, expected {}", name, in.size(),
                         low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high));
  }
  Result<void> activation(size_t operand) const {
    if (!is_activation(*in[operand])) return wrong(operand, "f32[rows, columns]");
    return {};
  }
  Result<void> like(size_t operand, const TensorDesc& other) const {
    if (in[operand]->shape != other.shape || in[operand]->dtype != other.dtype) {
      return wrong(operand, type_text(other));
    }
    return {};
  }
  Result<void> rows_like(size_t operand, size_t other) const {
    if (in[operand]->shape[0] == in[other]->shape[0]) return {};
    return wrong(operand, fmt::format("as many rows as operand {}", other));
  }
  Result<void> vector(size_t operand, Dim size) const {
    if (in[operand]->shape != Shape{size} || in[operand]->dtype != DType::kF32) {
      return wrong(operand, fmt::format("f32[{}]", size));
    }
    return {};
  }
  Result<void> pages(size_t operand) const {
    if (in[operand]->shape.size() != 1 || in[operand]->dtype != DType::kU32) {
      return wrong(operand, "a page table u32[P]");
    }
    return {};
  }
  Result<void> cache(size_t operand) const {
    const TensorDesc& c = *in[operand];
    if (!holds_keys_and_values(c) || c.shape[0] % kPageTokens != 0 ||
        !cache_type_from_name(cache_type_name(c.dtype))) {
      return wrong(operand, "a cache [cells, 2, kv_heads, head_dim] of whole pages");
    }
    const Dim head_dim = cached_head_dim(c.dtype, c.shape);
    if (c.dtype == kQ8Cache && (head_dim <= 0 || head_dim % kQ8CacheMultiple != 0)) {
      return wrong(operand, fmt::format("heads of a multiple of {} elements, and {} bytes more",
                                        kQ8CacheMultiple, kCacheStepBytes));
    }
    return {};
  }
  /// A number for every distance and head.
  Result<void> distances(size_t operand, Dim heads) const {
    const TensorDesc& bias = *in[operand];
    if (bias.shape.size() != 2 || bias.dtype != DType::kF32 || bias.shape[1] != heads ||
        bias.shape[0] % 2 != 1) {
      return wrong(operand, fmt::format("f32[an odd number, {}]", heads));
    }
    return {};
  }
  /// The operand of attention that changes its scores: ends of rows, sinks, or a bias by distance.
  Result<void> scores(size_t operand, Dim heads) const {
    const TensorDesc& given = *in[operand];
    if (given.dtype == DType::kU32) {
      const bool is_spans = given.shape.size() == 2 && given.shape[1] == 2;
      if (given.shape.size() != 1 && !is_spans) {
        return wrong(operand, "the ends u32[T] or the spans u32[T,2] of rows");
      }
      return rows_like(operand, 0);
    }
    return given.shape.size() == 1 ? vector(operand, heads) : distances(operand, heads);
  }
  /// The experts that each row of `x` chose.
  Result<void> choice(size_t operand, const TensorDesc& x) const {
    const TensorDesc& chosen = *in[operand];
    if (chosen.shape.size() != 2 || chosen.dtype != DType::kU32 || chosen.shape[0] != x.shape[0]) {
      return wrong(operand, "u32[T, top_k]");
    }
    return {};
  }
  /// x [rows, in], w [out, in], bias? [out]; gives `out`.
  Result<Dim> linear() const {
    TOK_TRY(count(2, 3));
    TOK_TRY(activation(0));
    const TensorDesc& w = *in[1];
    if (!is_matrix(w) || w.shape[1] != in[0]->shape[1]) {
      return wrong(1, fmt::format("a matrix [out, {}]", in[0]->shape[1]));
    }
    if (in.size() == 3) TOK_TRY(vector(2, w.shape[0]));
    return w.shape[0];
  }

  /// The output for a state that the op changes.
  TensorDesc same_state(size_t operand) const {
    TensorDesc out = *in[operand];
    out.name.clear();
    return out;
  }
  Result<void> recurrent(size_t operand, const Shape& shape) const {
    return state(operand, StateKind::kRecurrent, shape, DType::kF32);
  }
  Result<void> sampled(size_t operand, const Shape& shape, DType dtype = DType::kF32) const {
    return state(operand, StateKind::kSampled, shape, dtype);
  }

 private:
  Result<void> state(size_t operand, StateKind kind, const Shape& shape, DType dtype) const {
    const TensorDesc& s = *in[operand];
    if (s.storage != Storage::kState || !s.state || s.state->kind != kind || s.shape != shape ||
        s.dtype != dtype) {
      return wrong(operand, fmt::format("a {} state {}",
                                        kind == StateKind::kSampled ? "sampled" : "recurrent",
                                        type_text({.name = {}, .shape = shape, .dtype = dtype})));
    }
    return {};
  }
};

}  // namespace tokamak
