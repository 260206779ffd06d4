// The shape rules of norms, and of those that passes make: see ops.h and fused_norm.h.
#pragma once
#include "graph/library_shapes.h"

namespace tokamak {

struct NormRules : LibraryRules {
  using LibraryRules::operator();

  Outputs norm(size_t most_operands) const {
    TOK_TRY(count(2, most_operands));
    TOK_TRY(activation(0));
    if (in[1]->shape.size() != 1 || in[1]->dtype != DType::kF32 ||
        in[0]->shape[1] % in[1]->shape[0] != 0) {
      return wrong(1, fmt::format("f32[n] with n dividing {}", in[0]->shape[1]));
    }
    if (in.size() == 3) TOK_TRY(like(2, *in[1]));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const RmsNorm&) const { return norm(2); }
  Outputs operator()(const LayerNorm&) const { return norm(3); }
  Outputs operator()(const AddRmsNorm& op) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    const TensorDesc out = matrix(in[1]->shape[0], in[1]->shape[1]);
    TOK_TRY(like(0, matrix(out.shape[0], Dim{op.parts} * out.shape[1])));
    TOK_TRY(vector(2, out.shape[1]));
    return {{out, out}};
  }
  Outputs operator()(const FusedNorm& op) const {
    const size_t least = op.weight() + 1;
    TOK_TRY(count(least, least + op.centered));
    TOK_TRY(activation(0));
    const TensorDesc out = matrix(in[0]->shape[0], in[0]->shape[1]);
    if (op.adds) TOK_TRY(like(1, out));
    TOK_TRY(vector(op.weight(), out.shape[1]));
    if (in.size() > least) TOK_TRY(vector(least, out.shape[1]));
    const bool is_rounded = op.rounded != Half::kNone;
    if (is_rounded && out.shape[1] % kAligned != 0) return wrong(0, "f32[T, a multiple of 8]");
    if ((op.summed && !op.adds) || (op.plain && !is_rounded)) {
      return wrong(0, "a sum, or a norm that is rounded, to give it, too");
    }
    std::vector<TensorDesc> all = {out};
    all.front().dtype = half_dtype(op.rounded);
    if (op.summed) all.push_back(out);
    if (op.plain) all.push_back(out);
    return all;
  }
  Outputs operator()(const NormAdd& op) const {
    const size_t operands = size_t{3} + op.scaled + op.normed;
    TOK_TRY(count(operands, operands));
    TOK_TRY(activation(0));
    const TensorDesc out = matrix(in[0]->shape[0], in[0]->shape[1]);
    TOK_TRY(like(1, out));
    const Dim columns = out.shape[1];
    const Shape& heads = in[2]->shape;
    const bool divides = heads.size() == 1 && heads[0] > 0 && columns % heads[0] == 0;
    TOK_TRY(vector(2, divides && !op.normed ? heads[0] : columns));
    if (op.scaled) TOK_TRY(vector(3, 1));
    if (!op.normed) {
      if (op.rounded != Half::kNone) return wrong(0, "a norm of the sum, to round it");
      return {{out}};
    }
    TOK_TRY(vector(operands - 1, columns));
    if (op.rounded != Half::kNone && columns % kAligned != 0) {
      return wrong(0, "f32[T, a multiple of 8]");
    }
    TensorDesc norm = out;
    norm.dtype = half_dtype(op.rounded);
    return {{norm, out}};
  }
};

}  // namespace tokamak
