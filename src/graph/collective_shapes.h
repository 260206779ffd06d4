// The shape rules of collective_ops.h.
#pragma once
#include "graph/expert_shapes.h"

namespace tokamak {

struct CollectiveRules : ExpertRules {
  using ExpertRules::operator();

  Result<void> ranks(uint32_t count) const {
    if (count >= 1 && count <= kMaxRanks) return {};
    return wrong(0, fmt::format("that of 1 to {} ranks, not of {}", kMaxRanks, count));
  }
  Result<TensorDesc> sum_of_ranks(const auto& op) const {
    TOK_TRY(ranks(op.ranks));
    TOK_TRY(activation(0));
    const Dim parts{op.parts};
    if (parts == 0 || in[0]->shape[1] % parts != 0) {
      return wrong(0, fmt::format("columns in {} parts", op.parts));
    }
    TensorDesc sum = matrix(in[0]->shape[0], in[0]->shape[1] / parts);
    if (in.size() > 1) TOK_TRY(like(1, sum));
    return sum;
  }
  Outputs operator()(const AllReduce& op) const {
    TOK_TRY(count(1, 2));
    TOK_TRY(const TensorDesc sum, sum_of_ranks(op));
    return {{sum}};
  }
  Outputs operator()(const AllReduceNorm& op) const {
    TOK_TRY(count(3, 3));
    TOK_TRY(const TensorDesc sum, sum_of_ranks(op));
    TOK_TRY(vector(2, sum.shape[1]));
    return {{sum, sum}};
  }
  Outputs operator()(const AllGather& op) const {
    TOK_TRY(count(1, 1));
    TOK_TRY(ranks(op.ranks));
    TOK_TRY(activation(0));
    const Dim all = Dim{op.ranks} * in[0]->shape[1];
    if (op.columns == 0 || Dim{op.columns} > all) {
      return wrong(0, fmt::format("at least {} columns together", op.columns));
    }
    return {{matrix(in[0]->shape[0], Dim{op.columns})}};
  }
  Outputs operator()(const AllNorm& op) const {
    const bool has_other = op.other_columns != 0;
    TOK_TRY(count(has_other ? 4 : 2, has_other ? 4 : 2));
    TOK_TRY(ranks(op.ranks));
    std::vector<TensorDesc> norms;
    for (size_t x = 0; x < in.size(); x += 2) {
      TOK_TRY(activation(x));
      TOK_TRY(vector(x + 1, in[x]->shape[1]));
      TOK_TRY(rows_like(x, 0));
      const uint32_t all = x == 0 ? op.columns : op.other_columns;
      if (Dim{all} > Dim{op.ranks} * in[x]->shape[1] || all == 0) {
        return wrong(x, fmt::format("at least {} columns together", all));
      }
      norms.push_back(matrix(in[x]->shape[0], in[x]->shape[1]));
    }
    return norms;
  }
};

}  // namespace tokamak
