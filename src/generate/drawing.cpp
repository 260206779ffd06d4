#include "generate/drawing.h"

#include <algorithm>

#include "generate/token_list.h"

namespace tokamak {
namespace {

/// A list that is not enough costs a way to the device and back; after several in a row, the next
/// is made so many steps later.
uint32_t pause_after(uint32_t misses) {
  return (1u << std::min(misses - 1, 6u)) - 1;
}

}  // namespace

Drawing::Drawing(Session& session, Sampler& sampler)
    : session_(&session), sampler_(&sampler), takes_lists_(can_take_lists(sampler.params())) {}

Result<uint32_t> Drawing::next(uint32_t id, std::span<const uint32_t> previous_ids, uint64_t step) {
  std::span<const float> logits;
  if (takes_lists_ && pause_ == 0 && session_->gives_list()) {
    TOK_TRY(const std::span<const float> list,
            session_->feed_for_list(id, inverse_temperature(sampler_->params())));
    if (const auto drawn = sampler_->next_of_list(list, previous_ids)) {
      ++readbacks_.lists;
      misses_ = 0;
      return *drawn;
    }
    pause_ = pause_after(++misses_);
    TOK_TRY(logits, session_->logits_behind_list());
  } else {
    pause_ -= std::min(pause_, 1u);
    TOK_TRY(logits, session_->feed({&id, 1}));
  }
  ++readbacks_.all;
  return sampler_->next(logits, previous_ids, step);
}

}  // namespace tokamak
