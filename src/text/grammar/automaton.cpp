#include "text/grammar/automaton.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string>

#include "text/unicode/unicode.h"

namespace tokamak::grammar {
namespace {

using State = Automaton::State;
using Edge = Automaton::Edge;

constexpr uint32_t kDead = UINT32_MAX;
constexpr size_t kMaxRounds = 100;

void add_edge(std::vector<Edge>& edges, Edge edge) {
  if (!edges.empty() && edges.back().next == edge.next && edges.back().last + 1 == edge.first) {
    edges.back().last = edge.last;
  } else {
    edges.push_back(edge);
  }
}

/// Walks both at once. `keeps(in_a, in_b)`: whether a text is in the result; a side without an edge
/// is at kDead from there on. `needs_b`: nothing is in the result that b has left.
template <typename Keeps>
AutomatonOr product(const Automaton& a, const Automaton& b, Keeps keeps) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> index;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const auto number = [&](uint32_t x, uint32_t y) {
    const auto [known, is_new] = index.try_emplace({x, y}, uint32_t(pairs.size()));
    if (is_new) pairs.emplace_back(x, y);
    return known->second;
  };
  number(0, 0);
  std::vector<State> states;
  const std::vector<Edge> none;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs.size() > Automaton::kMaxStates) return {};
    const auto [x, y] = pairs[i];
    State state;
    state.accepts = keeps(x != kDead && a.states()[x].accepts, y != kDead && b.states()[y].accepts);
    const std::vector<Edge>& left = x == kDead ? none : a.states()[x].edges;
    const std::vector<Edge>& right = y == kDead ? none : b.states()[y].edges;
    auto l = left.begin(), r = right.begin();
    for (char32_t at = 0; at <= kLastCharacter;) {
      while (l != left.end() && l->last < at) ++l;
      while (r != right.end() && r->last < at) ++r;
      const bool in_l = l != left.end() && l->first <= at,
                 in_r = r != right.end() && r->first <= at;
      char32_t last = kLastCharacter;
      if (l != left.end()) last = std::min<char32_t>(last, in_l ? l->last : l->first - 1);
      if (r != right.end()) last = std::min<char32_t>(last, in_r ? r->last : r->first - 1);
      // Whatever follows in neither is in no result; so is what only one has, for some of them.
      const bool may_keep =
          (in_l && in_r) || (in_l && keeps(true, false)) || (in_r && keeps(false, true));
      if (may_keep) {
        add_edge(state.edges, {at, last, number(in_l ? l->next : kDead, in_r ? r->next : kDead)});
      }
      at = last + 1;
    }
    states.push_back(std::move(state));
  }
  return Automaton(std::move(states)).reduced();
}

/// States from which a text can still be accepted.
std::vector<bool> live_states(const std::vector<State>& states) {
  std::vector<std::vector<uint32_t>> before(states.size());
  std::vector<uint32_t> open;
  std::vector<bool> live(states.size());
  for (uint32_t i = 0; i < states.size(); ++i) {
    for (const Edge& edge : states[i].edges) before[edge.next].push_back(i);
    if (states[i].accepts) {
      live[i] = true;
      open.push_back(i);
    }
  }
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (const uint32_t from : before[at]) {
      if (live[from]) continue;
      live[from] = true;
      open.push_back(from);
    }
  }
  return live;
}

}  // namespace

Automaton Automaton::any() {
  return Automaton({{.accepts = true, .edges = {{0, kLastCharacter, 0}}}});
}

Automaton Automaton::of(const std::vector<std::string_view>& texts) {
  std::vector<State> states(1);
  for (std::string_view text : texts) {
    uint32_t at = 0;
    while (!text.empty()) {
      const Utf8Char c = first_char(text);
      text.remove_prefix(c.bytes);
      auto& edges = states[at].edges;
      auto place = std::ranges::lower_bound(edges, c.value, {}, &Edge::first);
      if (place == edges.end() || place->first != c.value) {
        place = edges.insert(place, {c.value, c.value, uint32_t(states.size())});
        at = place->next;
        states.emplace_back();
      } else {
        at = place->next;
      }
    }
    states[at].accepts = true;
  }
  return Automaton(std::move(states));
}

bool Automaton::accepts(std::string_view text) const {
  uint32_t at = 0;
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    text.remove_prefix(c.bytes);
    const auto found = std::ranges::find_if(states_[at].edges, [&](const Edge& edge) {
      return edge.first <= c.value && c.value <= edge.last;
    });
    if (found == states_[at].edges.end()) return false;
    at = found->next;
  }
  return states_[at].accepts;
}

std::optional<std::vector<std::u32string>> Automaton::texts(size_t most) const {
  std::vector<std::u32string> found;
  std::vector<std::pair<uint32_t, std::u32string>> open = {{0, U""}};
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i].second.size() > states_.size()) return {};  // it goes round
    const State& state = states_[open[i].first];
    if (state.accepts) found.push_back(open[i].second);
    for (const Edge& edge : state.edges) {
      if (edge.last - edge.first >= most || open.size() > 64 * most + 64) return {};
      for (char32_t c = edge.first; c <= edge.last; ++c) {
        open.emplace_back(edge.next, open[i].second + c);
      }
    }
    if (found.size() > most) return {};
  }
  std::ranges::sort(found);
  return found;
}

Automaton Automaton::reduced() const {
  const std::vector<bool> live = live_states(states_);
  if (!live[0]) return {};
  // Groups of states are split until all of a group have edges to the same groups (Moore).
  std::vector<uint32_t> group(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) group[i] = states_[i].accepts;
  size_t count = 0, rounds = 0;
  for (;;) {
    std::map<std::pair<bool, std::vector<uint32_t>>, uint32_t> index;
    std::vector<uint32_t> next(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!live[i]) continue;
      std::vector<Edge> edges;
      for (const Edge& edge : states_[i].edges) {
        if (live[edge.next]) add_edge(edges, {edge.first, edge.last, group[edge.next]});
      }
      std::vector<uint32_t> key = {group[i]};
      for (const Edge& edge : edges) {
        key.insert(key.end(), {uint32_t(edge.first), uint32_t(edge.last), edge.next});
      }
      next[i] = index.try_emplace({states_[i].accepts, std::move(key)}, uint32_t(index.size()))
                    .first->second;
    }
    group = std::move(next);
    if (index.size() == count) break;
    count = index.size();
    if (++rounds == kMaxRounds) {
      // A long chain takes as many rounds as it is long, and has no states to spare.
      std::ranges::copy(std::views::iota(0u, uint32_t(states_.size())), group.begin());
      count = states_.size();
      break;
    }
  }
  const uint32_t start = group[0];  // becomes state 0
  const auto name = [&](uint32_t g) { return g == start ? 0 : g == 0 ? start : g; };
  std::vector<State> states(count);
  for (size_t i = 0; i < states_.size(); ++i) {
    State& state = states[name(group[i])];
    if (!live[i] || !state.edges.empty() || state.accepts) continue;
    state.accepts = states_[i].accepts;
    for (const Edge& edge : states_[i].edges) {
      if (live[edge.next]) {
        add_edge(state.edges, {edge.first, edge.last, name(group[edge.next])});
      }
    }
  }
  return Automaton(std::move(states));
}

AutomatonOr united(const Automaton& a, const Automaton& b) {
  return product(a, b, [](bool in_a, bool in_b) { return in_a || in_b; });
}

AutomatonOr intersection(const Automaton& a, const Automaton& b) {
  return product(a, b, [](bool in_a, bool in_b) { return in_a && in_b; });
}

AutomatonOr difference(const Automaton& a, const Automaton& b) {
  return product(a, b, [](bool in_a, bool in_b) { return in_a && !in_b; });
}

AutomatonOr with_length(const Automaton& a, uint32_t least, uint32_t most) {
  const bool is_open = most == UINT32_MAX;
  const uint32_t count = is_open ? least : most;
  if (uint64_t{count} + 1 > Automaton::kMaxStates) return {};
  std::vector<State> states(size_t{count} + 1);
  for (uint32_t i = 0; i <= count; ++i) {
    states[i].accepts = i >= least;
    if (i < count || is_open) {
      states[i].edges = {{0, kLastCharacter, std::min(i + 1, count)}};
    }
  }
  return intersection(a, Automaton(std::move(states)));
}

}  // namespace tokamak::grammar
