// The part that launches of products by chosen experts share.
#pragma once
#include <optional>
#include <string>

#include "kernels/elementwise/elementwise.h"
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

inline bool norms_rows(const Problem& p) {
  const auto* glu = std::get_if<ExpertGlu>(p.op);
  return glu != nullptr && glu->norm;
}

/// The biases' operand; nothing where there are none.
inline std::optional<uint32_t> bias_operand(const Problem& p) {
  if (const auto* glu = std::get_if<ExpertGlu>(p.op)) {
    return glu->bias ? std::optional(glu->norm ? 4u : 3u) : std::nullopt;
  }
  if (const auto* mix = std::get_if<ExpertMix>(p.op)) {
    return mix->bias ? std::optional(4u) : std::nullopt;
  }
  return p.inputs.size() == 4 ? std::optional(3u) : std::nullopt;
}

/// The text of what a product adds to its sums.
inline const char* bias_source(const Problem& p) {
  return bias_operand(p) ? "experts/bias.wgsl" : "experts/no_bias.wgsl";
}

inline void add_bias(Launch& launch, const Problem& p) {
  const auto operand = bias_operand(p);
  if (!operand) return;
  launch.constants.push_back({"BIAS_INPUT", 1 + *operand});  // its binding
  launch.constants.push_back({"BIAS_ROWS", expert_sizes(p).rows});
}

/// The text of what two products of the gated half become.
inline const char* gate_source(const Problem& p) {
  const auto* glu = std::get_if<ExpertGlu>(p.op);
  return glu != nullptr && glu->limit > 0 ? "experts/limited_gate.wgsl" : "experts/plain_gate.wgsl";
}

inline void add_gate(Launch& launch, const Problem& p) {
  const auto* glu = std::get_if<ExpertGlu>(p.op);
  const Activation activation = glu != nullptr ? glu->activation : Activation::kIdentity;
  launch.constants.push_back({"GLU", glu != nullptr ? 1u : 0u});
  launch.constants.push_back(activation_constant(activation));
  if (glu != nullptr && glu->limit > 0) launch.constants.push_back({"LIMIT", glu->limit});
}

/// The text of expert_mix that stores results, and what it needs to know.
inline void add_mix_results(Launch& launch, const Problem& p) {
  const bool biased = p.as<ExpertMix>().bias;
  const uint32_t added = biased ? 5 : 4;
  launch.sources.push_back("experts/mix_results.wgsl");
  launch.constants.push_back({"BIASES", biased ? expert_sizes(p).top_k : 0u});
  if (p.inputs.size() > added) {
    launch.sources.push_back("experts/residual.wgsl");
    launch.constants.push_back({"ADDED_INPUT", 1 + added});  // its binding
  } else {
    launch.sources.push_back("experts/no_residual.wgsl");
  }
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
