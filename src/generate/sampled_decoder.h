// Sampled decoding, token by token, with the fewest readbacks its parameters need.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "generate/grammar_filter.h"
#include "generate/sampler.h"
#include "generate/session.h"

namespace tokamak {

/// How often a list of the device was enough, and how often all logits were read.
struct Readbacks {
  uint64_t lists = 0, all = 0;
  uint64_t guesses = 0, wrong = 0;  // of the lists: those that the device went on from, and wrongly
};

class SampledDecoder {
 public:
  /// All outlive it. With a filter only what it allows is drawn; what is drawn is pushed to it by
  /// the caller.
  SampledDecoder(Session& session, Sampler& sampler, GrammarFilter* filter = nullptr);

  /// Whether lists are tried at all; where not, feed() and Sampler::next() do the same.
  bool takes_lists() const { return takes_lists_; }

  /// Feeds `id` and draws the token after it: the one that Sampler::next() gives for all logits,
  /// or for those that the filter allows. `previous_ids`: the whole sequence, `id` included; `step`
  /// as for next(). Errors: those of Session::feed() and Sampler::next().
  Result<uint32_t> next(uint32_t id, std::span<const uint32_t> previous_ids, uint64_t step);

  /// Draws from all logits, of which the filter removes what it does not allow.
  Result<uint32_t> sampled_from_all(std::span<const float> logits,
                                    std::span<const uint32_t> previous_ids, uint64_t step);

  /// As next(), again and again: `take` receives every token and says whether to go on, at most
  /// `count` times; it adds them to `previous_ids`, which ends in the first to feed. Where the
  /// device can guess the token that its list will give, it goes on with that, some steps ahead of
  /// this program; what is taken is always what the host draws. Ends before `count` where something
  /// else is to be tried: call it again. REQUIRES: count > 0, and room in the context.
  Result<void> run(uint32_t count, const std::vector<uint32_t>& previous_ids, uint64_t step,
                   const std::function<bool(uint32_t)>& take);

  const Readbacks& readbacks() const { return readbacks_; }

 private:
  /// A list was not enough.
  void miss();
  std::optional<uint32_t> sampled_from(std::span<const float> list,
                                       std::span<const uint32_t> previous_ids);

  Session* session_;
  Sampler* sampler_;
  GrammarFilter* filter_;
  bool takes_lists_, guesses_;
  uint32_t misses_ = 0;  // lists in a row that were not enough
  uint32_t pause_ = 0;   // steps for which none is made
  uint32_t doubt_ = 0;   // lists that must be enough before the device runs ahead again
  Readbacks readbacks_;
};

}  // namespace tokamak
