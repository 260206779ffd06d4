#include "protocol/grammars/open_texts.h"

#include <algorithm>
#include <array>

#include "text/grammar/token_bytes.h"

namespace tokamak::protocol {
namespace {

using Kind = Grammar::State::Kind;

constexpr uint32_t kDead = UINT32_MAX;

/// A deterministic automaton over bytes, which begins in the first of its states.
struct Automaton {
  struct State {
    std::array<uint32_t, 256> next;
    bool accepts = false;
  };
  std::vector<State> states;

  uint32_t add(uint32_t everywhere, bool accepts) {
    states.emplace_back().next.fill(everywhere);
    states.back().accepts = accepts;
    return uint32_t(states.size() - 1);
  }
};

/// The states of the grammar are those of the automaton, and after them what each may choose from.
Grammar grammar_of(const Automaton& automaton, std::string source) {
  std::vector<Grammar::State> out(automaton.states.size());
  for (size_t i = 0; i < automaton.states.size(); ++i) {
    std::vector<Grammar::State> ways;
    if (automaton.states[i].accepts) ways.push_back({.kind = Kind::kReturn});
    const auto& next = automaton.states[i].next;
    for (size_t low = 0; low < next.size();) {
      size_t high = low;
      while (high + 1 < next.size() && next[high + 1] == next[low]) ++high;
      if (next[low] != kDead) {
        ways.push_back(
            {.kind = Kind::kByte, .low = uint8_t(low), .high = uint8_t(high), .next = next[low]});
      }
      low = high + 1;
    }
    // One way in the place of the state itself, each other one after a choice.
    size_t place = i;
    for (size_t way = 0; way + 1 < ways.size(); ++way) {
      const auto own = uint32_t(out.size());
      out[place] = {.kind = Kind::kSplit, .next = own, .other = own + 1};
      out.push_back(ways[way]);
      place = out.size();
      out.emplace_back();
    }
    out[place] = ways.back();
  }
  return Grammar(std::move(out), 0, std::move(source));
}

constexpr auto kSpecialByte = uint8_t(kSpecialMark);

/// How many bytes of `mark` stand at the end of a text that had `matched` of them and then `byte`.
size_t matched_after(std::string_view mark, size_t matched, char byte) {
  const std::string seen = std::string(mark.substr(0, matched)) + byte;
  for (size_t n = std::min(seen.size(), mark.size()); n > 0; --n) {
    if (seen.ends_with(mark.substr(0, n))) return n;
  }
  return 0;
}

/// A state for each number of bytes of the mark that the text ends with.
Automaton search_of(std::string_view mark, bool ends_with_it) {
  Automaton out;
  for (size_t matched = 0; matched < mark.size(); ++matched) {
    Automaton::State& state = out.states[out.add(0, !ends_with_it)];
    const bool is_in_token = matched > 0 && mark.front() == kSpecialMark;
    for (size_t byte = 0; byte < state.next.size(); ++byte) {
      const size_t next = matched_after(mark, matched, char(byte));
      const bool is_other_token = next <= matched && (byte == kSpecialByte || is_in_token);
      const bool is_over = next == mark.size() && !ends_with_it;
      state.next[byte] = is_other_token || is_over ? kDead : uint32_t(next);
    }
  }
  if (ends_with_it) out.add(kDead, true);
  return out;
}

}  // namespace

Grammar any_text() {
  Automaton out;
  out.states[out.add(0, true)].next[kSpecialByte] = kDead;
  return grammar_of(out, "any text");
}

Grammar mark_alone(std::string_view mark) {
  Automaton out;
  for (size_t i = 0; i < mark.size(); ++i) {
    out.states[out.add(kDead, false)].next[uint8_t(mark[i])] = uint32_t(i + 1);
  }
  out.add(kDead, true);
  return grammar_of(out, fmt::format("mark:{}", mark));
}

Grammar text_up_to(std::string_view mark) {
  return grammar_of(search_of(mark, true), fmt::format("up to:{}", mark));
}

Grammar text_without(std::string_view mark) {
  return grammar_of(search_of(mark, false), fmt::format("without:{}", mark));
}

Grammar text_not_starting_with(std::span<const std::string_view> beginnings) {
  Automaton tree;
  const uint32_t any = tree.add(0, true);  // it has begun otherwise
  uint32_t root = tree.add(any, true);
  std::string source = "begins otherwise:";
  const auto skip_space = [&](uint32_t state) {
    for (const char space : {' ', '\t', '\r', '\n'}) {
      tree.states[state].next[uint8_t(space)] = state;
    }
  };
  skip_space(root);
  for (const std::string_view beginning : beginnings) {
    source += fmt::format("\n{}", beginning);
    uint32_t at = root;
    bool is_quoted = false;
    for (size_t i = 0; i < beginning.size(); ++i) {
      const auto byte = uint8_t(beginning[i]);
      is_quoted = is_quoted != (beginning[i] == '"');
      uint32_t next = i + 1 == beginning.size() ? kDead : tree.states[at].next[byte];
      if (next == any) {
        next = tree.add(any, true);
        if (!is_quoted) skip_space(next);
      }
      tree.states[at].next[byte] = next;
      at = next;
    }
  }
  std::swap(tree.states[any], tree.states[root]);  // the first is where it begins
  for (Automaton::State& state : tree.states) {
    for (uint32_t& next : state.next) {
      if (next == any || next == root) next = next == any ? root : any;
    }
    state.next[kSpecialByte] = kDead;
  }
  return grammar_of(tree, std::move(source));
}

}  // namespace tokamak::protocol
