// The shape rules of recurrent_ops.h that are not in shapes.cpp.
#pragma once
#include "graph/lora_shapes.h"

namespace tokamak {

struct RecurrentRules : LoraRules {
  using LoraRules::operator();

  Outputs operator()(const SelectiveScan& op) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    const Shape& s = in[3]->shape;
    if (s.size() != 3 || op.groups == 0 || s[0] % Dim{op.groups} != 0) {
      return wrong(3, fmt::format("a state [heads, n, p], heads a multiple of {}", op.groups));
    }
    TOK_TRY(recurrent(3, s));
    if (!(op.low >= 0) || !(op.high == 0 || op.high >= op.low)) {
      return wrong(1, fmt::format("bounds in order, not {} and {}", op.low, op.high));
    }
    const Dim columns = s[0] * s[2] + 2 * Dim{op.groups} * s[1];
    if (in[0]->shape[1] < columns) return wrong(0, fmt::format("at least {} columns", columns));
    if (in[1]->shape[0] != in[0]->shape[0] || in[1]->shape[1] < s[0]) {
      return wrong(1, fmt::format("as many rows, of at least {} columns", s[0]));
    }
    TOK_TRY(like(2, matrix(3, s[0])));
    return {{matrix(in[0]->shape[0], s[0] * s[2]), same_state(3)}};
  }
};

}  // namespace tokamak
