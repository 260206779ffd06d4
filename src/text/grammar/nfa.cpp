#include "text/grammar/nfa.h"

#include <algorithm>
#include <map>

namespace tokamak::grammar {
namespace {

using Kind = Nfa::State::Kind;

constexpr size_t kMaxWork = 4000000;  // states looked at while sets are made

}  // namespace

CharacterRanges united_ranges(CharacterRanges ranges) {
  std::ranges::sort(ranges);
  CharacterRanges apart;
  for (const auto& range : ranges) {
    if (!apart.empty() && range.first <= apart.back().second + 1) {
      apart.back().second = std::max(apart.back().second, range.second);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

CharacterRanges other_ranges(const CharacterRanges& ranges) {
  CharacterRanges rest;
  char32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (first > next) rest.emplace_back(next, first - 1);
    next = last + 1;
  }
  if (next <= kLastCharacter) rest.emplace_back(next, kLastCharacter);
  return rest;
}

uint32_t Nfa::add(const State& state) {
  if (is_full()) return 0;
  states_.push_back(state);
  return uint32_t(states_.size() - 1);
}

uint32_t Nfa::character(CharacterRanges ranges, uint32_t next) {
  if (classes_.empty() || classes_.back() != ranges) classes_.push_back(std::move(ranges));
  return add({.kind = Kind::kCharacter, .next = next, .ranges = uint32_t(classes_.size() - 1)});
}

/// Follows what takes no character. Assertions of the end hold only `at_end`, and nothing but the
/// match is of interest after them.
Nfa::Set Nfa::closed(Set open, bool at_begin, bool at_end) const {
  Set found;
  std::vector<bool> seen(states_.size());
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const State& state = states_[at];
    switch (state.kind) {
      case Kind::kSplit:
        open.push_back(state.next);
        open.push_back(state.other);
        break;
      case Kind::kBegin:
        if (at_begin) open.push_back(state.next);
        break;
      case Kind::kEnd:
        if (at_end) {
          open.push_back(state.next);
        } else {
          found.push_back(at);
        }
        break;
      case Kind::kCharacter:
      case Kind::kMatch:
        found.push_back(at);
        break;
    }
  }
  std::ranges::sort(found);
  return found;
}

bool Nfa::matches(const Set& set) const {
  return std::ranges::any_of(set, [&](uint32_t at) { return states_[at].kind == Kind::kMatch; });
}

AutomatonOr Nfa::determined(uint32_t start) const {
  std::map<Set, uint32_t> index;
  std::vector<Set> sets;
  std::vector<Automaton::State> states;
  const auto number = [&](Set set) {
    const auto [known, is_new] = index.try_emplace(set, uint32_t(sets.size()));
    if (is_new) sets.push_back(std::move(set));
    return known->second;
  };
  sets.push_back(closed({start}, true, false));  // alone at the begin: no other set is this one
  size_t work = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets.size() > Automaton::kMaxStates) return {};
    const Set set = sets[i];
    Automaton::State made;
    // An empty text has its begin as its end; the first set stands for that alone.
    made.accepts = matches(i == 0 ? closed({start}, true, true) : closed(set, false, true));
    std::vector<char32_t> borders;
    for (const uint32_t at : set) {
      if (states_[at].kind != Kind::kCharacter) continue;
      for (const auto& [first, last] : classes_[states_[at].ranges]) {
        borders.push_back(first);
        borders.push_back(last + 1);
      }
    }
    std::ranges::sort(borders);
    borders.erase(std::ranges::unique(borders).begin(), borders.end());
    for (size_t k = 0; k + 1 < borders.size(); ++k) {
      Set next;
      for (const uint32_t at : set) {
        if (states_[at].kind != Kind::kCharacter) continue;
        const CharacterRanges& ranges = classes_[states_[at].ranges];
        const auto range = std::ranges::upper_bound(ranges, borders[k], {},
                                                    [](const auto& one) { return one.first; });
        if (range != ranges.begin() && borders[k] <= std::prev(range)->second) {
          next.push_back(states_[at].next);
        }
      }
      work += set.size() + states_.size() / 64;
      if (work > kMaxWork) return {};
      if (next.empty()) continue;
      made.edges.push_back(
          {borders[k], borders[k + 1] - 1, number(closed(std::move(next), false, false))});
    }
    states.push_back(std::move(made));
  }
  return Automaton(std::move(states)).reduced();
}

}  // namespace tokamak::grammar
