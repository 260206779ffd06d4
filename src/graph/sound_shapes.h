// The shape rules of sound_ops.h, for those of shapes.cpp to be joined to.
#pragma once
#include "graph/shape_checks.h"

namespace tokamak {

using Outputs = Result<std::vector<TensorDesc>>;

struct SoundRules : ShapeChecks {
  Outputs operator()(const Unfold& op) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    if (in[0]->shape[0] < 1) return wrong(0, "rows for all steps");
    if (op.taps == 0 || op.stride == 0) return wrong(0, "at least one tap and a stride");
    return {{matrix(kTokens, in[0]->shape[1] * Dim{op.taps})}};
  }
  Outputs operator()(const GroupNorm&) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    TOK_TRY(vector(1, in[0]->shape[1]));
    TOK_TRY(vector(2, in[0]->shape[1]));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const Clamp& op) const {
    if (!(op.low <= op.high)) {
      return wrong(0, fmt::format("a low of at most {}, not {}", op.high, op.low));
    }
    TOK_TRY(count(1, 1));
    TOK_TRY(activation(0));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const Standardize&) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    TOK_TRY(vector(1, in[0]->shape[1]));
    TOK_TRY(vector(2, in[0]->shape[1]));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const HalfSnake&) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    if (in[0]->shape[1] < 2) return wrong(0, "at least 2 columns");
    TOK_TRY(vector(1, in[0]->shape[1] / 2));
    return {{matrix(in[0]->shape[0], in[0]->shape[1])}};
  }
  Outputs operator()(const CausalConv& op) const {
    TOK_TRY(count(op.operands(), op.operands()));
    TOK_TRY(activation(0));
    const TensorDesc& w = *in[1];
    const Dim columns = in[0]->shape[1];
    if (!is_activation(w) || w.shape[0] < 1 || w.shape[1] < 1 || w.shape[1] % columns != 0) {
      return wrong(1, fmt::format("f32[out, taps * {}]", columns));
    }
    if (op.dilation == 0) return wrong(0, "a dilation of at least 1");
    TOK_TRY(vector(2, w.shape[0]));
    if (op.snake) {
      if (columns < 2) return wrong(0, "at least 2 columns");
      TOK_TRY(vector(3, columns / 2));
    }
    const TensorDesc out = matrix(in[0]->shape[0], w.shape[0]);
    if (op.adds) TOK_TRY(like(op.r(), out));
    return {{out}};
  }
  Outputs operator()(const TransposedConv&) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    const TensorDesc &w = *in[1], &bias = *in[2];
    const Dim columns = in[0]->shape[1];
    if (!is_activation(w) || w.shape[0] != columns || w.shape[1] < 2 || w.shape[1] % 2 != 0) {
      return wrong(1, fmt::format("f32[{}, an even number of taps]", columns));
    }
    if (bias.shape.size() != 1 || bias.dtype != DType::kF32 || columns % bias.shape[0] != 0) {
      return wrong(2, fmt::format("f32[out] with out dividing {}", columns));
    }
    return {{matrix(in[0]->shape[0], w.shape[1] / 2 * bias.shape[0])}};
  }
};

}  // namespace tokamak
