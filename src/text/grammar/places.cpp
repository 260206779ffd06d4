#include "text/grammar/places.h"

#include <algorithm>
#include <set>

namespace tokamak {
namespace {

using Kind = Grammar::State::Kind;

size_t mixed(size_t hash, uint32_t word) {
  hash = (hash ^ word) * size_t{0x9E3779B1u};
  return hash ^ (hash >> 15);
}

uint32_t less_one(uint32_t count) {
  return count == 0 || count == GrammarPlaces::kEndless ? count : count - 1;
}

}  // namespace

size_t GrammarPlaces::Hash::operator()(const std::vector<uint32_t>& words) const {
  size_t hash = words.size();
  for (const uint32_t word : words) hash = mixed(hash, word);
  return hash;
}

size_t GrammarPlaces::Hash::operator()(const Open& open) const {
  return mixed(mixed(mixed(mixed(0, open.state), open.need), open.room), open.below);
}

size_t GrammarPlaces::Hash::operator()(const Position& position) const {
  return mixed(mixed(0, position.place), position.stack);
}

GrammarPlaces::Position GrammarPlaces::enter(uint32_t state, uint32_t stack) {
  auto known = entered_.find(state);
  if (known == entered_.end()) known = entered_.emplace(state, place_of({{state, kNone}})).first;
  return {known->second.place, on_top(known->second.stack, stack)};
}

GrammarPlaces::Position GrammarPlaces::below(uint32_t stack) {
  const Open top = stacks_[stack];
  if (top.room == 0) return enter(top.state, top.below);
  std::vector<Thread> threads;
  continue_with(top, threads);
  const Position made = place_of(threads);
  return {made.place, on_top(made.stack, top.below)};
}

GrammarPlaces::Position GrammarPlaces::settled(Position position) {
  if (!places_[position.place].leaves || position.stack == kNone) return position;
  const auto known = settled_.find(position);
  if (known != settled_.end()) return known->second;
  const Position from = position;
  while (places_[position.place].leaves && position.stack != kNone) {
    const Open top = stacks_[position.stack];
    const Position made = resolved(position.place, top);
    position = {made.place, on_top(made.stack, top.below)};
  }
  if (settled_.size() > 4 * kMaxPlaces) settled_.clear();
  settled_.emplace(from, position);
  return position;
}

GrammarPlaces::Position GrammarPlaces::step(Position position, uint8_t byte) {
  uint32_t next = places_[position.place].next[byte];
  if (next == kUnknown) next = find_next(position.place, byte);
  if (next == kDead) return {kDead, kNone};
  if ((next & kEdge) == 0) return {next, position.stack};
  const Position edge = edges_[next & ~kEdge];
  return {edge.place, on_top(edge.stack, position.stack)};
}

uint32_t GrammarPlaces::find_next(uint32_t place, uint8_t byte) {
  std::vector<Thread> threads;
  std::vector<uint32_t> key;
  uint8_t low = 0, high = 255;  // of the bytes for which the same threads go on
  for (const Thread& thread : places_[place].threads) {
    const Grammar::State& state = grammar_->states()[thread.state];
    if (byte < state.low) {
      high = std::min(high, uint8_t(state.low - 1));
    } else if (byte > state.high) {
      low = std::max(low, uint8_t(state.high + 1));
    } else {
      low = std::max(low, state.low);
      high = std::min(high, state.high);
      threads.push_back({state.next, thread.stack});
      key.insert(key.end(), {state.next, thread.stack});
    }
  }
  uint32_t next = kDead;
  if (!threads.empty()) {
    auto known = closed_.find(key);
    if (known == closed_.end()) {
      if (closed_.size() > 4 * kMaxPlaces) closed_.clear();
      known = closed_.emplace(std::move(key), place_of(threads)).first;
    }
    const Position made = known->second;
    next = made.place;
    if (made.stack != kNone) {
      next = kEdge | uint32_t(edges_.size());
      edges_.push_back(made);
    }
  }
  std::fill(places_[place].next.begin() + low, places_[place].next.begin() + high + 1, next);
  return next;
}

GrammarPlaces::Position GrammarPlaces::resolved(uint32_t place, const Open& top) {
  std::vector<uint32_t> key = {place, top.state, top.need, top.room};
  const auto known = resolved_.find(key);
  if (known != resolved_.end()) return known->second;
  std::vector<Thread> threads;
  Open alone = top;
  alone.below = kNone;
  const uint32_t own = stack_of(alone);
  for (const Thread& thread : places_[place].threads) {
    threads.push_back({thread.state, on_top(thread.stack, own)});
  }
  continue_with(top, threads);
  const Position made = place_of(threads);
  resolved_.emplace(std::move(key), made);
  return made;
}

/// Goes on after the end of what `top` has called.
void GrammarPlaces::continue_with(const Open& top, std::vector<Thread>& threads) {
  if (top.room == 0) {
    threads.push_back({top.state, kNone});
    return;
  }
  const Grammar::State& state = grammar_->states()[top.state];
  const uint32_t need = less_one(top.need), room = less_one(top.room);
  if (need == 0) threads.push_back({state.next, kNone});
  if (room > 0) {
    threads.push_back({state.other, stack_of({top.state, need, room, kNone})});
  }
}

/// Follows what takes no byte. It comes to an end, since no rule begins with itself.
GrammarPlaces::Position GrammarPlaces::place_of(const std::vector<Thread>& begins) {
  const std::vector<Grammar::State>& states = grammar_->states();
  std::set<Thread> seen;
  std::vector<Thread> open, found;
  size_t count = 0;
  const uint64_t limit = std::min(work_ + kMaxPlaceWork, work_limit_);
  seen_in_.resize(states.size());
  if (++closure_ == 0) {  // it has come round
    std::ranges::fill(seen_in_, 0);
    closure_ = 1;
  }
  const auto add = [&](const Thread& thread) {
    ++work_;
    if (thread.stack == kNone ? seen_in_[thread.state] == closure_ : seen.contains(thread)) return;
    ++count;
    if (thread.stack == kNone) {
      seen_in_[thread.state] = closure_;
    } else {
      seen.insert(thread);
    }
    open.push_back(thread);
  };
  for (const Thread& thread : begins) add(thread);
  bool leaves = false;
  const auto is_wide = [&] { return count > kMaxThreads || work_ > limit; };
  while (!open.empty() && !is_wide()) {
    const Thread thread = open.back();
    open.pop_back();
    const Grammar::State& state = states[thread.state];
    switch (state.kind) {
      case Kind::kByte:
        if (state.low <= state.high) found.push_back(thread);
        break;
      case Kind::kSplit:
        add({state.next, thread.stack});
        add({state.other, thread.stack});
        break;
      case Kind::kCall:
        // A rule that ends in a call leaves nothing to come back to: lists may be long.
        add({state.other, states[state.next].kind == Kind::kReturn
                              ? thread.stack
                              : stack_of({state.next, 0, 0, thread.stack})});
        break;
      case Kind::kRepeat:
        if (state.least == 0) add({state.next, thread.stack});
        if (state.most > 0) {
          add({state.other, stack_of({thread.state, state.least, state.most, thread.stack})});
        }
        break;
      case Kind::kReturn:
        if (thread.stack == kNone) {
          leaves = true;
          break;
        }
        {
          const Open top = stacks_[thread.stack];
          std::vector<Thread> next;
          continue_with(top, next);
          for (const Thread& one : next) add({one.state, on_top(one.stack, top.below)});
        }
        break;
    }
  }
  const uint32_t base = leaves || is_wide() ? kNone : common_stack(found);
  if (base != kNone) {
    for (Thread& thread : found) thread.stack = without(thread.stack, base);
  }
  if (is_wide()) {
    is_too_wide_ = true;
    return {number_of({}, false), kNone};
  }
  return {number_of(std::move(found), leaves), base};
}

uint32_t GrammarPlaces::number_of(std::vector<Thread> threads, bool leaves) {
  std::ranges::sort(threads);
  std::vector<uint32_t> key = {uint32_t(leaves)};
  for (const Thread& thread : threads) key.insert(key.end(), {thread.state, thread.stack});
  const auto [known, is_new] = place_index_.try_emplace(std::move(key), uint32_t(places_.size()));
  if (is_new) {
    places_.push_back({.threads = std::move(threads), .leaves = leaves, .next = {}});
    places_.back().next.fill(kUnknown);
  }
  return known->second;
}

/// The returns that all threads have in common. Repetitions on top of them stay in the place: it
/// would not come back to itself otherwise.
uint32_t GrammarPlaces::common_stack(const std::vector<Thread>& threads) {
  if (threads.empty()) return kNone;
  const auto chain = [&](uint32_t stack) {
    std::vector<uint32_t> all;
    for (; stack != kNone; stack = stacks_[stack].below) all.push_back(stack);
    work_ += all.size();
    return all;
  };
  std::vector<uint32_t> common = chain(threads.front().stack);  // innermost first
  uint32_t last = threads.front().stack;
  for (const Thread& thread : threads) {
    if (thread.stack == last) continue;
    last = thread.stack;
    const std::vector<uint32_t> other = chain(last);
    size_t same = 0;
    while (same < common.size() && same < other.size() &&
           common[common.size() - 1 - same] == other[other.size() - 1 - same]) {
      ++same;
    }
    common.erase(common.begin(), common.end() - std::ptrdiff_t(same));
  }
  for (const uint32_t stack : common) {
    if (stacks_[stack].room == 0) return stack;
  }
  return kNone;
}

/// The entries of `stack` above `base`, which is a part of it, as a stack of their own.
uint32_t GrammarPlaces::without(uint32_t stack, uint32_t base) {
  std::vector<Open> entries;
  for (; stack != base; stack = stacks_[stack].below) entries.push_back(stacks_[stack]);
  work_ += entries.size();
  uint32_t made = kNone;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    entry->below = made;
    made = stack_of(*entry);
  }
  return made;
}

uint32_t GrammarPlaces::on_top(uint32_t entries, uint32_t stack) {
  if (entries == kNone) return stack;
  if (stack == kNone) return entries;
  if (stacks_[entries].below == kNone) {
    Open only = stacks_[entries];
    only.below = stack;
    return stack_of(only);
  }
  std::vector<Open> all;
  for (; entries != kNone; entries = stacks_[entries].below) all.push_back(stacks_[entries]);
  work_ += all.size();
  for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
    entry->below = stack;
    stack = stack_of(*entry);
  }
  return stack;
}

uint32_t GrammarPlaces::stack_of(const Open& open) {
  const auto [known, is_new] = stack_index_.try_emplace(open, uint32_t(stacks_.size()));
  if (is_new) stacks_.push_back(open);
  return known->second;
}

uint32_t GrammarPlaces::copied(const GrammarPlaces& from, uint32_t stack) {
  std::vector<Open> entries;
  for (; stack != kNone; stack = from.stacks_[stack].below) entries.push_back(from.stacks_[stack]);
  uint32_t made = kNone;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    entry->below = made;
    made = stack_of(*entry);
  }
  return made;
}

GrammarPlaces::Position GrammarPlaces::taken_over(const GrammarPlaces& from, Position position) {
  const Place& old = from.places_[position.place];
  std::vector<Thread> threads;
  for (const Thread& thread : old.threads) {
    threads.push_back({thread.state, copied(from, thread.stack)});
  }
  is_too_wide_ = is_too_wide_ || from.is_too_wide_;
  return {number_of(std::move(threads), old.leaves), copied(from, position.stack)};
}

uint32_t GrammarPlaces::without_counts_from(uint32_t limit, uint32_t place) {
  std::vector<Thread> threads = places_[place].threads;
  bool changed = false;
  for (Thread& thread : threads) {
    std::vector<Open> entries;
    for (uint32_t at = thread.stack; at != kNone; at = stacks_[at].below) {
      entries.push_back(stacks_[at]);
    }
    thread.stack = kNone;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      for (uint32_t* count : {&entry->need, &entry->room}) {
        if (*count < limit || *count == kEndless) continue;
        *count = kEndless;
        changed = true;
      }
      entry->below = thread.stack;
      thread.stack = stack_of(*entry);
    }
  }
  return changed ? number_of(std::move(threads), places_[place].leaves) : place;
}

Result<void> check_start(const Grammar& grammar) {
  GrammarPlaces places(grammar);
  places.settled(places.start());
  if (!places.is_too_wide()) return {};
  return invalid_input(
      "The grammar has more than {} ways to begin; repetitions of what may be empty, or of each "
      "other, are the commonest cause.",
      GrammarPlaces::kMaxThreads);
}

}  // namespace tokamak
