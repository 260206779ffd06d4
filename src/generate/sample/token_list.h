// Sampling from the list of the most probable tokens that the device makes (TopKTokens in
// graph/sampling_ops.h), instead of from all logits.
//
// The token is the one that all logits would give, or there is none: the list then cannot tell.
// What follows from the listed logits alone is computed as from all of them. What needs the sum
// over the vocabulary, which the device adds up in f32, is only believed where no error that the
// sum may have could change it.
#pragma once
#include <optional>
#include <span>

#include "generate/sample/sampler.h"
#include "plan/plan.h"

namespace tokamak {

/// Whether a list can be enough for these parameters: a top_k below its length, or rules that need
/// no more than the sum, and penalties that make no token more likely. The sum says nothing where a
/// grammar removes tokens that the device does not know of. Where it cannot, reading it is a waste.
bool can_take_lists(const SamplingParams& params, bool has_grammar = false);

/// Whether the device can guess what a list gives: it knows no typical_p, of penalties only that of
/// repetition, and not what that does to the sum.
bool can_guess(const SamplingParams& params);

/// By what the device sums up a list's probabilities and, where it can guess, draws; `random` as
/// Sampler::random_state().
SamplingRule sampling_rule(const SamplingParams& params, uint64_t random);

/// `list`: pairs of a logit and its id, best first, then the sum. The last `generated` of the
/// previous ids are those that were generated. `drawn`: the number in [0, 1) that chooses among
/// what survives. `allows`: where given, other tokens are as if their logits were -infinity.
std::optional<uint32_t> token_of_list(std::span<const float> list,
                                      std::span<const uint32_t> previous_ids,
                                      const SamplingParams& params, uint64_t generated,
                                      double drawn, const TokenTest& allows = {});

}  // namespace tokamak
