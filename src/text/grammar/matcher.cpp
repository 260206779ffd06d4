#include "text/grammar/matcher.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {

GrammarMatcher::GrammarMatcher(const Grammar& grammar)
    : places_(std::make_shared<GrammarPlaces>(grammar)),
      is_own_(true),
      here_(places_->start()),
      settled_(places_->settled(here_)) {}

GrammarMatcher::GrammarMatcher(std::shared_ptr<GrammarPlaces> places)
    : places_(std::move(places)),
      is_own_(false),
      here_(places_->start()),
      settled_(places_->settled(here_)) {}

void GrammarMatcher::make_room() {
  if (!is_own_) return;
  if (places_->is_full()) move_to(std::make_shared<GrammarPlaces>(places_->grammar()));
  places_->renew_budget();
}

void GrammarMatcher::move_to(std::shared_ptr<GrammarPlaces> places) {
  here_ = places->taken_over(*places_, here_);
  places_ = std::move(places);
  settled_ = places_->settled(here_);
}

bool GrammarMatcher::allows(std::string_view bytes) {
  make_room();
  GrammarPlaces::Position at = settled_;
  for (const char byte : bytes) {
    at = places_->step(at, uint8_t(byte));
    if (at.place == GrammarPlaces::kDead) return false;
    at = places_->settled(at);
  }
  return true;
}

void GrammarMatcher::push(std::string_view bytes) {
  for (const char byte : bytes) {
    make_room();
    const GrammarPlaces::Position next = places_->step(settled_, uint8_t(byte));
    if (next.place == GrammarPlaces::kDead) {
      TOK_CHECK(is_too_wide());  // otherwise an allowed text goes on
      return;
    }
    here_ = next;
    settled_ = places_->settled(here_);
  }
}

bool GrammarMatcher::may_end() const {
  return settled_.stack == GrammarPlaces::kNone && places_->place(settled_.place).leaves;
}

bool GrammarMatcher::may_continue() const {
  return !places_->place(settled_.place).threads.empty();
}

std::string GrammarMatcher::forced(size_t most) const {
  const std::vector<Grammar::State>& states = places_->grammar().states();
  std::string bytes;
  for (GrammarPlaces::Position at = settled_; bytes.size() < most && !is_too_wide();) {
    const GrammarPlaces::Place& place = places_->place(at.place);
    if (place.leaves || place.threads.empty()) break;
    const uint8_t byte = states[place.threads.front().state].low;
    const bool is_only = std::ranges::all_of(place.threads, [&](const auto& thread) {
      return states[thread.state].low == byte && states[thread.state].high == byte;
    });
    if (!is_only) break;
    bytes += char(byte);
    at = places_->settled(places_->step(at, byte));
  }
  return bytes;
}

}  // namespace tokamak
