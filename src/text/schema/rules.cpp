// Goals -> rules, and the rules that all schemas share.
#include <algorithm>

#include "text/schema/compiler.h"

namespace tokamak::schema {
namespace {

constexpr uint32_t kMaxIndent = 32;

}  // namespace

Compiler::Compiler(Document& document) : document_(document) {
  make_shared_rules();
}

void Compiler::make_shared_rules() {
  end_ = states_.end();
  // Models may write blanks for ever, so that there is an end to them.
  uint32_t indent = end_;
  for (uint32_t i = 0; i < kMaxIndent; ++i) {
    indent = states_.split(states_.byte(' ', ' ', indent), end_);
  }
  const uint32_t blank = states_.byte(' ', ' ', end_);
  space_ = states_.choice({end_, blank, states_.byte('\n', '\n', indent)});
  character_ = states_.json_characters({{0, grammar::kLastCharacter}}, end_);
  string_ = states_.byte(
      '"', '"', states_.repeat(character_, 0, Grammar::kNoLimit, states_.byte('"', '"', end_)));
  const auto digits = [&](uint32_t least, uint32_t most, uint32_t next) {
    const uint32_t end = next;
    if (most == Grammar::kNoLimit) {
      const uint32_t loop = states_.reserve();
      states_.define(loop, states_.byte('0', '9', loop), next);
      next = loop;
    } else {
      for (uint32_t i = least; i < most; ++i) {
        next = states_.split(states_.byte('0', '9', next), end);
      }
    }
    for (uint32_t i = 0; i < least; ++i) next = states_.byte('0', '9', next);
    return next;
  };
  const auto whole = [&](uint32_t next) {
    const uint32_t more = states_.byte('1', '9', digits(0, Grammar::kNoLimit, next));
    return states_.choice({more, states_.byte('0', '0', next), states_.byte('-', '-', more)});
  };
  integer_ = whole(end_);
  const uint32_t power = digits(1, 2, end_);
  const uint32_t sign =
      states_.choice({power, states_.byte('+', '+', power), states_.byte('-', '-', power)});
  const uint32_t exponent =
      states_.choice({end_, states_.byte('e', 'e', sign), states_.byte('E', 'E', sign)});
  const uint32_t fraction =
      states_.split(exponent, states_.byte('.', '.', digits(1, Grammar::kNoLimit, exponent)));
  const uint32_t minus_zero = states_.text("-0", fraction);
  number_ = states_.split(whole(fraction), minus_zero);
}

/// A text as JSON writes it, with its quotes.
uint32_t Compiler::quoted(std::string_view text, uint32_t next) {
  const Automaton only = Automaton::of({text});
  return states_.byte('"', '"', states_.automaton(only, true, states_.byte('"', '"', next)));
}

uint32_t Compiler::string_of(const std::optional<Automaton>& set, uint32_t least, uint32_t most,
                             uint32_t next) {
  if (!set && least == 0 && most == Grammar::kNoLimit) return states_.call(string_, next);
  if (!set) {
    return states_.byte('"', '"',
                        states_.repeat(character_, least, most, states_.byte('"', '"', next)));
  }
  // The same set is the same rule, so that what follows it by itself is found once.
  std::vector<uint32_t> key;
  for (const Automaton::State& state : set->states()) {
    key.push_back(uint32_t(state.edges.size() << 1 | size_t{state.accepts}));
    for (const auto& edge : state.edges) {
      key.insert(key.end(), {uint32_t(edge.first), uint32_t(edge.last), edge.next});
    }
  }
  const auto [known, is_new] = string_rules_.try_emplace(std::move(key), 0);
  if (is_new) {
    known->second =
        states_.byte('"', '"', states_.automaton(*set, true, states_.byte('"', '"', end_)));
  }
  return states_.call(known->second, next);
}

uint32_t Compiler::rule(const Goal& goal) {
  const auto [known, is_new] = rules_.try_emplace(goal, 0);
  if (is_new) {
    known->second = states_.reserve();
    open_.push_back(goal);
  }
  return known->second;
}

Result<uint32_t> Compiler::branch_begin(const Branch& branch) {
  std::vector<uint32_t> begins;
  TOK_TRY(const Scalars own, scalars(branch));
  add_scalars(own, begins);
  if (own.types & kArrayType) {
    TOK_TRY(begins.emplace_back(), array_rule(branch));
  }
  if (own.types & kObjectType) {
    TOK_TRY(begins.emplace_back(), object_rule(branch));
  }
  return states_.choice(begins);
}

Result<Grammar> Compiler::compile(std::string source) {
  const uint32_t root = rule({document_.root()});
  while (!open_.empty()) {
    const Goal goal = std::move(open_.back());
    open_.pop_back();
    TOK_TRY(const auto all, branches(goal));
    std::vector<uint32_t> begins;
    for (const Branch& one : all) {
      TOK_TRY(begins.emplace_back(), branch_begin(one));
    }
    states_.define(rules_[goal], states_.choice(begins));
    if (states_.is_full() || rules_.size() > kMaxRules) {
      return document_.refused(document_.root(),
                               fmt::format("a schema of more than {} states", Grammar::kMaxStates));
    }
  }
  std::vector<Grammar::State> states = states_.take();
  if (!grammar::remove_dead_ends(states, root)) {
    return invalid_input("#: No value satisfies this schema.");
  }
  Grammar made(std::move(states), root, std::move(source));
  made.set_json_character(character_);
  return made;
}

}  // namespace tokamak::schema
