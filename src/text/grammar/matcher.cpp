#include "text/grammar/matcher.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tokamak {

GrammarMatcher::GrammarMatcher(const Grammar& grammar) : grammar_(&grammar) {
  here_ = place_of({{grammar.root(), kNone}});
}

bool GrammarMatcher::allows(std::string_view bytes) {
  if (places_.size() > kMaxPlaces || stacks_.size() > kMaxStacks) forget();
  uint32_t place = here_;
  for (const char byte : bytes) {
    place = step(place, uint8_t(byte));
    if (place == kNone) return false;
  }
  return true;
}

void GrammarMatcher::push(std::string_view bytes) {
  for (const char byte : bytes) {
    here_ = step(here_, uint8_t(byte));
    TOK_CHECK(here_ != kNone);
  }
}

uint32_t GrammarMatcher::step(uint32_t place, uint8_t byte) {
  if (places_[place].next[byte] != kUnknown) return places_[place].next[byte];
  std::vector<Thread> threads;
  for (const Thread& thread : places_[place].threads) {
    const Grammar::State& state = grammar_->states()[thread.state];
    if (state.low <= byte && byte <= state.high) threads.push_back({state.next, thread.stack});
  }
  const uint32_t next = threads.empty() ? kNone : place_of(threads);
  places_[place].next[byte] = next;
  return next;
}

/// Follows what takes no byte. It comes to an end, since no rule begins with itself.
uint32_t GrammarMatcher::place_of(const std::vector<Thread>& begins) {
  using Kind = Grammar::State::Kind;
  const std::vector<Grammar::State>& states = grammar_->states();
  std::set<Thread> seen(begins.begin(), begins.end());
  std::vector<Thread> threads(seen.begin(), seen.end());
  const auto add = [&](const Thread& thread) {
    if (seen.size() < kMaxThreads) {
      if (seen.insert(thread).second) threads.push_back(thread);
    } else {
      is_too_wide_ = true;
    }
  };
  Place place;
  while (!threads.empty()) {
    const Thread thread = threads.back();
    threads.pop_back();
    const Grammar::State& state = states[thread.state];
    switch (state.kind) {
      case Kind::kByte:
        place.threads.push_back(thread);
        break;
      case Kind::kSplit:
        add({state.next, thread.stack});
        add({state.other, thread.stack});
        break;
      case Kind::kCall:
        // A rule that ends in a call leaves nothing to come back to: lists may be long.
        add({state.other, states[state.next].kind == Kind::kReturn
                              ? thread.stack
                              : stack_of({state.next, thread.stack})});
        break;
      case Kind::kReturn:
        if (thread.stack == kNone) {
          place.may_end = true;
        } else {
          add({stacks_[thread.stack].state, stacks_[thread.stack].below});
        }
        break;
    }
  }
  std::ranges::sort(place.threads);
  const auto [known, is_new] =
      place_index_.try_emplace({place.threads, place.may_end}, uint32_t(places_.size()));
  if (is_new) {
    place.next.fill(kUnknown);
    places_.push_back(std::move(place));
  }
  return known->second;
}

uint32_t GrammarMatcher::stack_of(const Open& open) {
  const auto [known, is_new] = stack_index_.try_emplace(open, uint32_t(stacks_.size()));
  if (is_new) stacks_.push_back(open);
  return known->second;
}

void GrammarMatcher::forget() {
  const std::vector<Open> stacks = std::move(stacks_);
  Place here = std::move(places_[here_]);
  stacks_.clear();
  stack_index_.clear();
  places_.clear();
  place_index_.clear();
  for (Thread& thread : here.threads) {
    std::vector<uint32_t> returns;  // innermost first
    for (uint32_t at = thread.stack; at != kNone; at = stacks[at].below) {
      returns.push_back(stacks[at].state);
    }
    thread.stack = kNone;
    for (auto state = returns.rbegin(); state != returns.rend(); ++state) {
      thread.stack = stack_of({*state, thread.stack});
    }
  }
  std::ranges::sort(here.threads);
  here.next.fill(kUnknown);
  place_index_.emplace(std::pair(here.threads, here.may_end), 0u);
  places_.push_back(std::move(here));
  here_ = 0;
}

}  // namespace tokamak
