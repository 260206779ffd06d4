// The list of the most probable tokens, for sampling on the host: the peak of each block of
// columns, the blocks with the best maxima, and of what is in those the best. Three launches that
// know nothing of each other's order of work; ranks are counted, so equal inputs give equal lists.
// See graph/sampling_ops.h for the contracts.
#pragma once
#include <limits>
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// A row of logits, of which those that the slot's mask leaves out are no numbers.
class AllowedLogits {
 public:
  AllowedLogits(const CpuCall& call, size_t row, const CpuTensor& allowed);
  size_t size() const { return logits_.size(); }
  float operator[](size_t i) const {
    const bool is_allowed = allowed_.empty() || has_token(allowed_, uint32_t(i));
    return is_allowed ? logits_[i] : std::numeric_limits<float>::quiet_NaN();
  }
  /// The logits from there on, where all are allowed; else those, copied to `room`.
  std::span<const float> part(size_t first, std::span<float> room) const;

 private:
  std::span<const float> logits_;
  std::span<const uint32_t> allowed_;  // none: all
};

// Rows of the references (kernels/rows.h).
void topk_blocks_row(const CpuCall& call, size_t t);
void topk_tokens_row(const CpuCall& call, size_t t);

std::span<const KernelVariant> top_token_variants();

}  // namespace tokamak
