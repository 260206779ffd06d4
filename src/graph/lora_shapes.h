// The shape rules of lora_ops.h.
#pragma once
#include "graph/lora_ops.h"
#include "graph/norm_shapes.h"

namespace tokamak {

struct LoraRules : NormRules {
  using NormRules::operator();

  /// Rows of whole eights, as many as a number of adapters has, each of which has `rows`.
  Result<void> stack(size_t operand, Dim rows) const {
    const TensorDesc& t = *in[operand];
    if (is_matrix(t) && !is_packed(t.dtype) && rows > 0 && t.shape[0] % rows == 0 &&
        t.shape[1] % 8 == 0) {
      return {};
    }
    return wrong(operand, fmt::format("floats [a multiple of {}, a multiple of 8]", rows));
  }
  Outputs operator()(const LoraDown& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    if (op.rank % 8 != 0) return wrong(1, "rows of a rank that is a multiple of 8");
    TOK_TRY(stack(1, Dim{op.rank}));
    if (in[0]->shape[0] != kTokens || in[0]->shape[1] != in[1]->shape[1]) {
      return wrong(0, fmt::format("f32[T,{}]", in[1]->shape[1]));
    }
    return {{matrix(kTokens, Dim{op.rank})}};
  }
  Outputs operator()(const LoraUp& op) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    TOK_TRY(stack(2, in[0]->shape[1]));
    if (in[0]->shape[0] != kTokens) return wrong(0, "f32[T, n]");
    TOK_TRY(rows_like(1, 0));
    if (in[1]->shape[1] % 8 != 0 || op.first % 8 != 0 ||
        Dim{op.first} + in[2]->shape[1] > in[1]->shape[1]) {
      return wrong(1, fmt::format("rows of eights with columns {} to {}", op.first,
                                  Dim{op.first} + in[2]->shape[1]));
    }
    return {{matrix(kTokens, in[0]->shape[1])}};
  }
};

}  // namespace tokamak
