// Ops of mixtures of experts.
#pragma once
#include <cstdint>
#include <string_view>

#include "graph/activation.h"

namespace tokamak {

/// Scores of a router's logits: over all experts, or of each by itself.
enum class Score : uint8_t { kSoftmax, kSigmoid };
inline constexpr std::string_view kScoreNames[] = {"softmax", "sigmoid"};

/// The worth of a group of experts: its best value, or the sum of its best two.
enum class GroupBy : uint8_t { kBest, kTwo };
inline constexpr std::string_view kGroupByNames[] = {"best", "two"};

/// The experts of each token and their shares. p is the score of factor * logits; the values are p,
/// with `biased` p + bias. Groups are `groups` runs of neighbours, 0 for none: the values of all
/// but the groups_used of largest worth become 0. Chosen are the top_k of largest value, in falling
/// order; experts and groups that tie come in the order of their numbers. The share is p, with
/// `normalize` divided by eps and the sum of p over the chosen ones; times scaled * scale[expert].
/// factor is above 0.
///     (logits [T, experts], bias? [experts], scale? [experts]) -> shares [T, top_k], u32[T, top_k]
struct Route {
  static constexpr std::string_view kName = "route";
  uint32_t top_k = 1;
  bool normalize = true;
  float factor = 1;
  Score score = Score::kSoftmax;
  bool biased = false;
  uint32_t groups = 0, groups_used = 0;
  GroupBy group_by = GroupBy::kBest;
  float eps = 0, scaled = 1;
  static void fields(auto& op, auto&& visit) {
    visit("top_k", op.top_k);
    visit("normalize", op.normalize);
    visit("factor", op.factor);
    visit("score", op.score);
    visit("biased", op.biased);
    visit("groups", op.groups);
    visit("groups_used", op.groups_used);
    visit("group_by", op.group_by);
    visit("eps", op.eps);
    visit("scaled", op.scaled);
  }
  bool operator==(const Route&) const = default;
};

/// A product per token and chosen expert: y[t, s] = x Wᵀ (+ bias) of expert chosen[t, s], where x
/// is row t or its slot s, and the rows of expert 0 come first. (x [T, in] or [T, top_k*in], w
/// [experts*out, in], chosen u32[T, top_k], bias? [experts*out]) -> [T, top_k*out]
struct ExpertLinear {
  static constexpr std::string_view kName = "expert_linear";
  uint32_t experts = 1;
  static void fields(auto& op, auto&& visit) { visit("experts", op.experts); }
  bool operator==(const ExpertLinear&) const = default;
};

/// y[t] = sum_s shares[t, s] x[t, s]            (x [T, top_k*n], shares [T, top_k]) -> [T, n]
struct ExpertSum {
  static constexpr std::string_view kName = "expert_sum";
  static void fields(auto&, auto&&) {}
  bool operator==(const ExpertSum&) const = default;
};

/// Columns as the expert of each slot has them: y[t, s, c] = x[t, order[chosen[t, s], c]], where x
/// is row t, or slot s of it when it has one for each.
///     (x [T, n] or [T, top_k*n], order u32[experts, n], chosen u32[T, top_k]) -> [T, top_k*n]
struct ExpertColumns {
  static constexpr std::string_view kName = "expert_columns";
  static void fields(auto&, auto&&) {}
  bool operator==(const ExpertColumns&) const = default;
};

/// Made by passes: the gated half of experts, activation(g) * u with g = x Gᵀ and u = x Uᵀ, where
/// an expert of W has n rows of G, then n of U. With `norm`, x is rms_norm(x, v); with `bias`, both
/// products have theirs, in the order of the rows. With a `limit` above 0 it is gpt-oss's gate in
/// place of the activation: (u + 1) g sigmoid(1.702 g), of g up to the limit and u within it.
///     (x [T, in], w [experts*2*n, in], chosen u32[T, top_k], v? [in], bias? [experts*2*n])
///     -> [T, top_k*n]
struct ExpertGlu {
  static constexpr std::string_view kName = "expert_glu";
  uint32_t experts = 1;
  Activation activation = Activation::kSilu;
  bool norm = false;
  float eps = 0;
  bool bias = false;
  float limit = 0;
  static void fields(auto& op, auto&& visit) {
    visit("experts", op.experts);
    visit("activation", op.activation);
    visit("norm", op.norm);
    visit("eps", op.eps);
    visit("bias", op.bias);
    visit("limit", op.limit);
  }
  bool operator==(const ExpertGlu&) const = default;
};

/// Made by passes: expert_sum(expert_linear(x, w, chosen, bias), shares), with slots of x, plus r.
///     (x [T, top_k*in], w [experts*out, in], chosen u32[T, top_k], shares [T, top_k],
///      bias? [experts*out], r? [T, out]) -> [T, out]
struct ExpertMix {
  static constexpr std::string_view kName = "expert_mix";
  uint32_t experts = 1;
  bool bias = false;
  static void fields(auto& op, auto&& visit) {
    visit("experts", op.experts);
    visit("bias", op.bias);
  }
  bool operator==(const ExpertMix&) const = default;
};

}  // namespace tokamak
