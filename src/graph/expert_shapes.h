// The shape rules of expert_ops.h.
#pragma once
#include "graph/latent_shapes.h"

namespace tokamak {

struct ExpertRules : LatentRules {
  using LatentRules::operator();

  Result<void> groups(const Route& op, Dim experts) const {
    if (op.groups == 0) return {};
    const Dim each = experts / Dim{op.groups};
    if (experts % Dim{op.groups} != 0 || (op.group_by == GroupBy::kTwo && each < 2)) {
      return wrong(0, fmt::format("columns for {} groups alike", op.groups));
    }
    if (op.groups_used == 0 || op.groups_used > op.groups) {
      return wrong(0, fmt::format("1 to {} groups in use, not {}", op.groups, op.groups_used));
    }
    return {};
  }
  Outputs operator()(const Route& op) const {
    const size_t least = op.biased ? 2 : 1;
    TOK_TRY(count(least, least + 1));
    TOK_TRY(activation(0));
    const Dim rows = in[0]->shape[0], experts = in[0]->shape[1];
    if (op.top_k == 0 || Dim{op.top_k} > experts) {
      return wrong(0, fmt::format("at least {} columns", op.top_k));
    }
    if (!(op.factor > 0)) return wrong(0, fmt::format("a factor above 0, not {}", op.factor));
    TOK_TRY(groups(op, experts));
    for (size_t i = 1; i < in.size(); ++i) TOK_TRY(vector(i, experts));
    TensorDesc chosen = matrix(rows, op.top_k);
    chosen.dtype = DType::kU32;
    return {{matrix(rows, op.top_k), chosen}};
  }
  Outputs operator()(const ExpertLinear& op) const {
    TOK_TRY(count(3, 4));
    TOK_TRY(activation(0));
    const TensorDesc &x = *in[0], &w = *in[1], &chosen = *in[2];
    TOK_TRY(choice(2, x));
    if (!is_matrix(w) || op.experts == 0 || w.shape[0] % Dim{op.experts} != 0 ||
        (x.shape[1] != w.shape[1] && x.shape[1] != w.shape[1] * chosen.shape[1])) {
      return wrong(1, fmt::format("a matrix [{} * out, in] whose rows fit operand 0", op.experts));
    }
    if (in.size() == 4) TOK_TRY(vector(3, w.shape[0]));
    return {{matrix(x.shape[0], chosen.shape[1] * (w.shape[0] / Dim{op.experts}))}};
  }
  Outputs operator()(const ExpertSum&) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    TOK_TRY(activation(1));
    if (in[1]->shape[0] != in[0]->shape[0] || in[0]->shape[1] % in[1]->shape[1] != 0) {
      return wrong(1, fmt::format("shares of the {} columns", in[0]->shape[1]));
    }
    return {{matrix(in[0]->shape[0], in[0]->shape[1] / in[1]->shape[1])}};
  }
  Outputs operator()(const ExpertColumns&) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(activation(0));
    const TensorDesc &x = *in[0], &order = *in[1];
    TOK_TRY(choice(2, x));
    const Dim top_k = in[2]->shape[1];
    if (order.shape.size() != 2 || order.dtype != DType::kU32 ||
        (x.shape[1] != order.shape[1] && x.shape[1] != order.shape[1] * top_k)) {
      return wrong(1, "u32[experts, n] whose rows fit operand 0");
    }
    return {{matrix(x.shape[0], top_k * order.shape[1])}};
  }
};

}  // namespace tokamak
