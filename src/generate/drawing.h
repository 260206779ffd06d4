// Drawing: sampled decoding, token by token, with the fewest readbacks its parameters need.
#pragma once
#include "generate/sampler.h"
#include "generate/session.h"

namespace tokamak {

/// How often a list of the device was enough, and how often all logits were read.
struct Readbacks {
  uint64_t lists = 0, all = 0;
};

class Drawing {
 public:
  /// Both outlive it.
  Drawing(Session& session, Sampler& sampler);

  /// Whether lists are tried at all; where not, feed() and Sampler::next() do the same.
  bool takes_lists() const { return takes_lists_; }

  /// Feeds `id` and draws the token behind it: the one that Sampler::next() gives for all logits.
  /// `previous_ids`: the whole sequence, `id` included; `step` as for next(). Errors: those of
  /// Session::feed() and Sampler::next().
  Result<uint32_t> next(uint32_t id, std::span<const uint32_t> previous_ids, uint64_t step);

  const Readbacks& readbacks() const { return readbacks_; }

 private:
  Session* session_;
  Sampler* sampler_;
  bool takes_lists_;
  uint32_t misses_ = 0;  // lists in a row that were not enough
  uint32_t pause_ = 0;   // steps for which none is made
  Readbacks readbacks_;
};

}  // namespace tokamak
