// The shape rules of latent_ops.h.
#pragma once
#include <algorithm>
#include <span>

#include "graph/recurrent_shapes.h"

namespace tokamak {

struct LatentRules : RecurrentRules {
  using RecurrentRules::operator();

  /// The streams of a state; none of another tensor.
  static std::span<const StateStream> streams_of(const TensorDesc& c) {
    if (!c.state) return {};
    return c.state->streams;
  }
  Result<void> latents(size_t operand) const {
    const TensorDesc& c = *in[operand];
    if (!holds_latents(c) || c.shape[0] % kPageTokens != 0 ||
        !std::ranges::all_of(streams_of(c),
                             [](const StateStream& s) { return s.width % 2 == 0; })) {
      return wrong(operand, "a cache [cells, rank + d] of latents in whole pages, both even");
    }
    return {};
  }
  Outputs operator()(const HeadLinear& op) const {
    TOK_TRY(count(2, 2));
    TOK_TRY(activation(0));
    const TensorDesc &x = *in[0], &w = *in[1];
    const Dim heads{op.heads};
    if (!is_matrix(w) || heads == 0 || w.shape[0] % heads != 0 ||
        x.shape[1] != (op.transposed ? w.shape[0] : heads * w.shape[1])) {
      return wrong(1, fmt::format("a matrix of {} heads that takes {} columns", heads, x.shape[1]));
    }
    return {{matrix(x.shape[0], op.transposed ? heads * w.shape[1] : w.shape[0])}};
  }
  Outputs operator()(const LatentAppend& op) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(latents(2));
    TOK_TRY(pages(3));
    const std::span<const StateStream> streams = streams_of(*in[2]);
    if (op.rank != streams[0].width) return wrong(2, fmt::format("latents of {}", op.rank));
    TOK_TRY(like(0, matrix(in[0]->shape[0], streams[0].width)));
    TOK_TRY(like(1, matrix(in[0]->shape[0], streams[1].width)));
    return {{same_state(2)}};
  }
  Outputs operator()(const LatentAttention& op) const {
    TOK_TRY(count(4, 4));
    TOK_TRY(activation(0));
    TOK_TRY(latents(2));
    TOK_TRY(pages(3));
    const std::span<const StateStream> streams = streams_of(*in[2]);
    const Dim rank{streams[0].width}, heads = in[0]->shape[1] / rank;
    if (heads == 0 || in[0]->shape[1] != heads * rank) {
      return wrong(0, fmt::format("a multiple of {} columns", rank));
    }
    TOK_TRY(like(1, matrix(in[0]->shape[0], heads * streams[1].width)));
    const Dim splits = op.splits;
    if (splits == 0) return wrong(0, "at least 1 split");
    return {{matrix(in[0]->shape[0], splits == 1 ? heads * rank : splits * heads * (rank + 2))}};
  }
};

}  // namespace tokamak
