// The part that launches of products by chosen experts share.
#pragma once
#include <string>

#include "kernels/kernel.h"

namespace tokamak {

/// A cut matrix holds the experts first .. first + held - 1, each of that many rows; `out` of
/// them are results, or pairs of them are.
struct ExpertProductSizes {
  uint32_t experts, first, held, rows, in, out, top_k, x_rows;
};

inline ExpertProductSizes expert_sizes(const Problem& p) {
  const uint32_t experts = experts_of(*p.op), in = uint32_t(p.inputs[1].shape[1]);
  const uint32_t held_rows = uint32_t(p.inputs[1].shape[0]);
  const uint32_t rows = (p.cut.total != 0 ? p.cut.total : held_rows) / experts;
  return {.experts = experts,
          .first = p.cut.first / rows,
          .held = held_rows / rows,
          .rows = rows,
          .in = in,
          .out = std::holds_alternative<ExpertGlu>(*p.op) ? rows / 2 : rows,
          .top_k = uint32_t(p.inputs[2].shape[1]),
          .x_rows = uint32_t(p.inputs[0].shape[1]) / in};
}

inline bool has_many_tokens(const Problem& p) {
  return p.inputs[0].shape[0] == kTokens && p.max_tokens > 1;
}

/// For kernels that read eight weights at once.
inline std::string refuses_width(const Problem& p) {
  const uint32_t in = expert_sizes(p).in;
  return in % 8 == 0 ? "" : fmt::format("in = {} is no multiple of 8", in);
}

/// For those that, besides, take one token.
inline std::string refuses_tokens_or_width(const Problem& p, const DeviceInfo&) {
  return has_many_tokens(p) ? "is for one token" : refuses_width(p);
}

}  // namespace tokamak
