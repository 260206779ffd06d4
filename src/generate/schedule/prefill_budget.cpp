#include "generate/schedule/prefill_budget.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {

PrefillBudget::PrefillBudget(uint32_t least, uint32_t most)
    : least_(least), most_(most), tokens_(least) {
  TOK_CHECK(least >= 1 && least <= most);
}

void PrefillBudget::decoded(double seconds) {
  constexpr double kWeight = 0.125;  // of the last step: one that was interrupted does not decide
  if (seconds <= 0) return;
  decode_seconds_ += (seconds - decode_seconds_) * (decode_seconds_ == 0 ? 1 : kWeight);
}

void PrefillBudget::read(uint32_t tokens, double seconds) {
  // Neither the end of a prompt says anything, whose step may have taken as long as one of more
  // tokens, nor a step of many more, whose tokens take less time each.
  if (seconds <= 0 || decode_seconds_ == 0) return;
  if (2 * tokens < tokens_ || tokens > 2 * tokens_) return;
  const double wanted = tokens * decode_seconds_ / seconds;
  // By no more than half or double at once, since a step may have been interrupted.
  const double next = std::clamp(wanted, 0.5 * tokens_, 2.0 * tokens_);
  tokens_ = std::clamp(uint32_t(next), least_, most_);
}

}  // namespace tokamak
