// The shape rules of library_ops.h.
#pragma once
#include <bit>

#include "graph/library_ops.h"
#include "graph/sound_shapes.h"

namespace tokamak {

struct LibraryRules : SoundRules {
  using SoundRules::operator();
  /// The values that they read come in eights: 16 bytes.
  static constexpr Dim kAligned = 8;

  static TensorDesc half_matrix(Dim rows, Dim columns, DType type) {
    return {.name = {}, .shape = {rows, columns}, .dtype = type};
  }
  Outputs operator()(const ToHalf& op) const {
    TOK_TRY(count(1, 2));
    const DType type = half_dtype(op.type);
    const bool is_copy = op.activation == Activation::kIdentity && in.size() == 1;
    if (!is_matrix(*in[0]) || (is_copy && in[0]->dtype == type) ||
        in[0]->shape[1] % kAligned != 0) {
      return wrong(0, fmt::format("a matrix [m, a multiple of 8] of another type than {}",
                                  dtype_name(type)));
    }
    if (in.size() == 2) TOK_TRY(vector(1, in[0]->shape[1]));
    return {{half_matrix(in[0]->shape[0], in[0]->shape[1], type)}};
  }
  Outputs operator()(const HalfLinear& op) const {
    TOK_TRY(count(2, 3));
    const TensorDesc &x = *in[0], &w = *in[1];
    if (x.shape.size() != 2 || !is_half(x.dtype) || x.shape[1] % kAligned != 0) {
      return wrong(0, "bf16 or f16[rows, a multiple of 8]");
    }
    if (w.shape.size() != 2 || w.dtype != x.dtype || w.shape[1] != x.shape[1]) {
      return wrong(1, fmt::format("{}[out, {}]", dtype_name(x.dtype), x.shape[1]));
    }
    if (op.rows == 0 || op.rows % kAligned != 0 || op.first % kAligned != 0 ||
        Dim{op.first} + Dim{op.rows} > w.shape[0]) {
      return wrong(1, fmt::format("a matrix with rows {} to {}, multiples of 8", op.first,
                                  op.first + op.rows));
    }
    if (in.size() == 3 && op.rounded) return wrong(2, "no bias of a rounded result");
    if (in.size() == 3) TOK_TRY(vector(2, w.shape[0]));
    if (op.rounded) return {{half_matrix(x.shape[0], Dim{op.rows}, x.dtype)}};
    return {{matrix(x.shape[0], Dim{op.rows})}};
  }
  Outputs operator()(const PairGlu& op) const {
    TOK_TRY(count(1, 1));
    if (!is_half(in[0]->dtype)) TOK_TRY(activation(0));
    if (!is_matrix(*in[0]) || in[0]->shape[1] % (2 * kAligned) != 0) {
      return wrong(0, "f32, bf16 or f16[T, a multiple of 16]");
    }
    return {{half_matrix(in[0]->shape[0], in[0]->shape[1] / 2, half_dtype(op.type))}};
  }
  Outputs operator()(const GatedHalf& op) const {
    TOK_TRY(count(2, 3));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    const Dim n = in[0]->shape[1], columns = in[1]->shape[1];
    if (n % kAligned != 0) return wrong(0, "f32[T, a multiple of 8]");
    if (columns % kAligned != 0 || op.first % kAligned != 0 || Dim{op.first} + n > columns) {
      return wrong(
          1, fmt::format("f32[T, a multiple of 8] with columns {} to {}", op.first, op.first + n));
    }
    if (in.size() == 3) {
      const TensorDesc& norm = *in[2];
      const Dim head = norm.shape.size() == 1 && norm.dtype == DType::kF32 ? norm.shape[0] : 0;
      const bool is_head = head >= 4 && head <= Dim{GatedHalf::kMaxHead} &&
                           std::has_single_bit(uint64_t(head)) && n % head == 0 &&
                           columns % head == 0 && Dim{op.first} % head == 0;
      if (!is_head) return wrong(2, "f32[a power of two from 4 to 128 that divides the columns]");
    }
    return {{half_matrix(in[0]->shape[0], n, half_dtype(op.type))}};
  }
};

}  // namespace tokamak
