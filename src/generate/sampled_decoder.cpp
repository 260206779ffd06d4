#include "generate/sampled_decoder.h"

#include <algorithm>

#include "generate/token_list.h"

namespace tokamak {
namespace {

/// A list that is not enough costs a way to the device and back; after several in a row, the next
/// is made that many steps later.
uint32_t pause_after(uint32_t misses) {
  return (1u << std::min(misses - 1, 6u)) - 1;
}

/// Where the device runs ahead, such a list costs about as many steps: those under way, and those
/// that bring recurrent states back.
uint32_t steps_of_a_miss(const Session& session) {
  return session.is_recurrent() ? 16 : 8;
}

}  // namespace

SampledDecoder::SampledDecoder(Session& session, Sampler& sampler, GrammarFilter* filter)
    : session_(&session),
      sampler_(&sampler),
      filter_(filter),
      takes_lists_(can_take_lists(sampler.params(), filter != nullptr)),
      guesses_(can_guess(sampler.params()) && filter == nullptr) {}

std::optional<uint32_t> SampledDecoder::sampled_from(std::span<const float> list,
                                                     std::span<const uint32_t> previous_ids) {
  if (filter_ == nullptr) return sampler_->next_of_list(list, previous_ids);
  const auto allows = [this](uint32_t id) { return filter_->allows(id); };
  const auto id = sampler_->next_of_list(list, previous_ids, allows);
  return filter_->is_sure() ? id : std::nullopt;
}

Result<uint32_t> SampledDecoder::sampled_from_all(std::span<const float> logits,
                                                  std::span<const uint32_t> previous_ids,
                                                  uint64_t step) {
  if (filter_ != nullptr) {
    TOK_TRY(logits, filter_->allowed(logits));
  }
  return sampler_->next(logits, previous_ids, step);
}

void SampledDecoder::miss() {
  pause_ = pause_after(++misses_);
  doubt_ = steps_of_a_miss(*session_);
}

Result<uint32_t> SampledDecoder::next(uint32_t id, std::span<const uint32_t> previous_ids,
                                      uint64_t step) {
  std::span<const float> logits;
  if (takes_lists_ && pause_ == 0 && session_->gives_list()) {
    TOK_TRY(const std::span<const float> list,
            session_->feed_for_list(id, sampling_rule(sampler_->params(), 0).inverse_temperature));
    if (const auto drawn = sampled_from(list, previous_ids)) {
      ++readbacks_.lists;
      misses_ = 0;
      doubt_ -= std::min(doubt_, 1u);
      return *drawn;
    }
    miss();
    TOK_TRY(logits, session_->logits_after_list());
  } else {
    pause_ -= std::min(pause_, 1u);
    TOK_TRY(logits, session_->feed({&id, 1}));
  }
  ++readbacks_.all;
  return sampled_from_all(logits, previous_ids, step);
}

Result<void> SampledDecoder::run(uint32_t count, const std::vector<uint32_t>& previous_ids,
                                 uint64_t step, const std::function<bool(uint32_t)>& take) {
  const bool runs_ahead = guesses_ && pause_ == 0 && doubt_ == 0;
  const uint32_t room = runs_ahead ? session_->sampling_room() : 0;
  if (room == 0) {
    TOK_TRY(const uint32_t id, next(previous_ids.back(), previous_ids, step));
    take(id);
    return {};
  }
  bool is_enough = true;
  const auto start = [&] {
    return SamplingStart{sampling_rule(sampler_->params(), sampler_->random_state()), previous_ids};
  };
  const auto check = [&](std::span<const float> list, uint32_t guess) {
    const auto drawn = sampled_from(list, previous_ids);
    is_enough = drawn.has_value();
    if (!is_enough) return false;
    ++readbacks_.lists;
    misses_ = 0;
    ++step;
    if (!take(*drawn)) return false;
    ++readbacks_.guesses;
    readbacks_.wrong += *drawn != guess;
    return *drawn == guess;
  };
  TOK_TRY(session_->sample(previous_ids.back(), std::min(count, room), start, check));
  if (is_enough) return {};
  miss();
  ++readbacks_.all;
  TOK_TRY(const std::span<const float> logits, session_->logits_after_list());
  TOK_TRY(const uint32_t id, sampled_from_all(logits, previous_ids, step));
  take(id);
  return {};
}

}  // namespace tokamak
