#include "text/grammar/state_builder.h"

#include <algorithm>
#include <string>

#include "text/unicode/unicode.h"

namespace tokamak::grammar {

using Kind = Grammar::State::Kind;

uint32_t StateBuilder::add(const State& state) {
  if (is_full()) return 0;
  states_.push_back(state);
  return uint32_t(states_.size() - 1);
}

void StateBuilder::define(uint32_t reserved, uint32_t next, uint32_t other) {
  states_[reserved].next = next;
  states_[reserved].other = other;
}

uint32_t StateBuilder::byte(uint8_t low, uint8_t high, uint32_t next) {
  return add({.kind = Kind::kByte, .low = low, .high = high, .next = next});
}

uint32_t StateBuilder::split(uint32_t next, uint32_t other) {
  return add({.kind = Kind::kSplit, .next = next, .other = other});
}

uint32_t StateBuilder::call(uint32_t rule, uint32_t next) {
  return add({.kind = Kind::kCall, .next = next, .other = rule});
}

uint32_t StateBuilder::repeat(uint32_t rule, uint32_t least, uint32_t most, uint32_t next) {
  return add({.kind = Kind::kRepeat, .next = next, .other = rule, .least = least, .most = most});
}

uint32_t StateBuilder::choice(const std::vector<uint32_t>& begins) {
  if (begins.empty()) return nothing();
  uint32_t begin = begins.back();
  for (size_t i = begins.size() - 1; i-- > 0;) begin = split(begins[i], begin);
  return begin;
}

uint32_t StateBuilder::append(std::span<const State> states) {
  const auto first = uint32_t(states_.size());
  for (State state : states) {
    state.next += first;
    state.other += first;
    add(state);
  }
  return first;
}

uint32_t StateBuilder::text(std::string_view text, uint32_t next) {
  for (auto c = text.rbegin(); c != text.rend(); ++c) next = byte(uint8_t(*c), uint8_t(*c), next);
  return next;
}

uint32_t StateBuilder::characters(const std::vector<std::pair<char32_t, char32_t>>& ranges,
                                  uint32_t next) {
  std::vector<uint32_t> begins;
  for (const auto& [first, last] : ranges) add_range(first, last, next, begins);
  return choice(begins);
}

uint32_t StateBuilder::json_characters(const std::vector<std::pair<char32_t, char32_t>>& ranges,
                                       uint32_t next) {
  std::vector<uint32_t> begins;
  for (auto [first, last] : ranges) {
    for (; first <= last && first < 0x20; ++first) add_escaped(first, next, begins);
    for (const char32_t escaped : {U'"', U'\\'}) {
      if (first > escaped || last < escaped) continue;
      if (first < escaped) add_range(first, escaped - 1, next, begins);
      add_escaped(escaped, next, begins);
      first = escaped + 1;
    }
    add_range(first, last, next, begins);
  }
  return choice(begins);
}

void StateBuilder::add_escaped(char32_t c, uint32_t next, std::vector<uint32_t>& begins) {
  constexpr std::string_view kMeant = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
  const size_t place = kMeant.find(char(c));
  if (place != kMeant.npos) begins.push_back(text(std::string{'\\', kLetters[place]}, next));
  if (c >= 0x20) return;
  constexpr std::string_view kDigits = "0123456789abcdef", kLarge = "0123456789ABCDEF";
  const auto digit = [&](uint32_t value, uint32_t after) {
    const auto small = byte(uint8_t(kDigits[value]), uint8_t(kDigits[value]), after);
    if (value < 10) return small;
    return split(small, byte(uint8_t(kLarge[value]), uint8_t(kLarge[value]), after));
  };
  begins.push_back(text("\\u00", digit(c >> 4, digit(c & 15, next))));
}

/// Characters whose UTF-8 has the same length, and differs in bytes that are all free or all fixed,
/// are one sequence of ranges of bytes.
void StateBuilder::add_range(char32_t first, char32_t last, uint32_t next,
                             std::vector<uint32_t>& begins) {
  if (first > last) return;
  for (const char32_t end : {0x7Fu, 0x7FFu, 0xD7FFu, 0xDFFFu, 0xFFFFu}) {
    if (first <= end && last > end) {
      add_range(first, end, next, begins);
      return add_range(end + 1, last, next, begins);
    }
  }
  if (first >= 0xD800 && last <= 0xDFFF) return;          // surrogates are no characters
  for (const char32_t low : {0x3Fu, 0xFFFu, 0x3FFFFu}) {  // of the last bytes
    if (last <= 0x7F || (first & ~low) == (last & ~low)) continue;
    if ((first & low) != 0) {
      add_range(first, first | low, next, begins);
      return add_range((first | low) + 1, last, next, begins);
    }
    if ((last & low) != low) {
      add_range(first, (last & ~low) - 1, next, begins);
      return add_range(last & ~low, last, next, begins);
    }
  }
  std::string from, to;
  append_utf8(from, first);
  append_utf8(to, last);
  for (size_t i = from.size(); i-- > 0;) next = byte(uint8_t(from[i]), uint8_t(to[i]), next);
  begins.push_back(next);
}

uint32_t StateBuilder::automaton(const Automaton& automaton, bool in_json, uint32_t next) {
  std::vector<uint32_t> begins;
  for (size_t i = 0; i < automaton.states().size(); ++i) begins.push_back(reserve());
  for (size_t i = 0; i < automaton.states().size() && !is_full(); ++i) {
    const Automaton::State& state = automaton.states()[i];
    std::vector<uint32_t> ways;
    if (state.accepts) ways.push_back(next);
    for (size_t k = 0; k < state.edges.size();) {
      // Ranges that lead to one state share what follows their last bytes.
      const uint32_t to = state.edges[k].next;
      std::vector<std::pair<char32_t, char32_t>> ranges;
      for (; k < state.edges.size() && state.edges[k].next == to; ++k) {
        ranges.emplace_back(state.edges[k].first, state.edges[k].last);
      }
      ways.push_back(in_json ? json_characters(ranges, begins[to])
                             : characters(ranges, begins[to]));
    }
    define(begins[i], choice(ways));
  }
  return begins[0];
}

bool remove_dead_ends(std::vector<Grammar::State>& states, uint32_t root) {
  std::vector<bool> lives(states.size());
  const auto can_end = [&](const Grammar::State& state) {
    switch (state.kind) {
      case Kind::kReturn:
        return true;
      case Kind::kByte:
        return state.low <= state.high && lives[state.next];
      case Kind::kSplit:
        return lives[state.next] || lives[state.other];
      case Kind::kCall:
        return lives[state.next] && lives[state.other];
      case Kind::kRepeat:
        return lives[state.next] && (state.least == 0 || lives[state.other]);
    }
    return false;
  };
  // A state that waits for another is looked at again when that one is known to end.
  std::vector<std::vector<uint32_t>> waiting(states.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < states.size(); ++i) {
    const Grammar::State& state = states[i];
    if (state.kind == Kind::kReturn) {
      open.push_back(i);
      continue;
    }
    waiting[state.next].push_back(i);
    if (state.kind != Kind::kByte && state.other != state.next) waiting[state.other].push_back(i);
  }
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (lives[at] || !can_end(states[at])) continue;
    lives[at] = true;
    open.insert(open.end(), waiting[at].begin(), waiting[at].end());
  }
  for (uint32_t i = 0; i < states.size(); ++i) {
    Grammar::State& state = states[i];
    if (!lives[i]) {
      state = {.kind = Kind::kByte, .low = 1, .high = 0};
    } else if (state.kind == Kind::kSplit) {
      if (!lives[state.next]) state.next = state.other;
      if (!lives[state.other]) state.other = state.next;
    } else if (state.kind == Kind::kRepeat && !lives[state.other]) {
      state = {.kind = Kind::kSplit, .next = state.next, .other = state.next};
    }
  }
  return lives[root];
}

}  // namespace tokamak::grammar
