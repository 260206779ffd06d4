#include "text/grammar/grammar.h"

#include <algorithm>
#include <map>
#include <span>

#include "text/grammar/matcher.h"
#include "text/grammar/places.h"
#include "text/grammar/state_builder.h"
#include "text/grammar/syntax.h"

namespace tokamak {
namespace {

using grammar::Node;
using grammar::Rule;
using State = Grammar::State;

using RuleIndex = std::map<std::string, uint32_t, std::less<>>;

/// Rules that are named but not there.
Result<void> check_names(const Node& node, const RuleIndex& index) {
  if (node.kind == Node::Kind::kRule && !index.contains(node.text)) {
    return invalid_input("line {}: There is no rule \"{}\".", node.line, node.text);
  }
  for (const Node& child : node.children) TOK_TRY(check_names(child, index));
  return {};
}

/// Finds rules that may call themselves before any byte is taken. Those of the index beyond
/// `rules` are other grammars.
class LeftRecursion {
 public:
  LeftRecursion(std::span<const Rule> rules, std::span<const Grammar::Named> others,
                const RuleIndex& index)
      : rules_(rules), index_(index), may_be_empty_(rules.size()), marks_(rules.size()) {
    for (const Grammar::Named& other : others) {
      may_be_empty_.push_back(GrammarMatcher(*other.grammar).may_end());
    }
  }

  Result<void> check() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < rules_.size(); ++i) {
        if (may_be_empty_[i] || !is_empty(rules_[i].body)) continue;
        may_be_empty_[i] = changed = true;
      }
    }
    for (uint32_t i = 0; i < rules_.size(); ++i) TOK_TRY(visit(i));
    return {};
  }

 private:
  enum class Mark : uint8_t { kNew, kOpen, kDone };

  bool is_empty(const Node& node) const {
    const auto empty = [&](const Node& child) { return is_empty(child); };
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return node.text.empty();
      case Node::Kind::kClass:
        return false;
      case Node::Kind::kRule:
        return may_be_empty_[index_.find(node.text)->second];
      case Node::Kind::kSequence:
        return std::ranges::all_of(node.children, empty);
      case Node::Kind::kChoice:
        return std::ranges::any_of(node.children, empty);
      case Node::Kind::kRepeat:
        return node.least == 0 || is_empty(node.children.front());
    }
    return false;
  }

  /// Rules with which `node` may begin.
  void add_firsts(const Node& node, std::vector<uint32_t>& firsts) const {
    if (node.kind == Node::Kind::kRule) {
      const uint32_t rule = index_.find(node.text)->second;
      if (rule < rules_.size()) firsts.push_back(rule);  // another grammar calls no rule of this
    }
    for (const Node& child : node.children) {
      add_firsts(child, firsts);
      if (node.kind == Node::Kind::kSequence && !is_empty(child)) return;
    }
  }

  /// Depth first, with a stack of its own: a chain of rules may be long.
  Result<void> visit(uint32_t rule) {
    struct Frame {
      uint32_t rule;
      std::vector<uint32_t> firsts;
    };
    std::vector<Frame> frames;
    const auto open = [&](uint32_t i) {
      marks_[i] = Mark::kOpen;
      frames.push_back({i, {}});
      add_firsts(rules_[i].body, frames.back().firsts);
    };
    if (marks_[rule] == Mark::kNew) open(rule);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.firsts.empty()) {
        marks_[frame.rule] = Mark::kDone;
        frames.pop_back();
        continue;
      }
      const uint32_t next = frame.firsts.back();
      frame.firsts.pop_back();
      if (marks_[next] == Mark::kOpen) {
        return invalid_input(
            "line {}: The rule \"{}\" may begin with itself; put what comes first in front of it, "
            "as in \"list ::= item list?\".",
            rules_[next].line, rules_[next].name);
      }
      if (marks_[next] == Mark::kNew) open(next);
    }
    return {};
  }

  std::span<const Rule> rules_;
  const RuleIndex& index_;
  std::vector<bool> may_be_empty_;
  std::vector<Mark> marks_;
};

/// Makes states from the end: each part is given the state after it and gives the one before it.
class Builder {
 public:
  Builder(std::span<const Rule> rules, std::span<const Grammar::Named> others,
          const RuleIndex& index)
      : index_(index) {
    // A rule begins with a split of its own, so that rules can call those that come later.
    for (size_t i = 0; i < rules.size() + others.size(); ++i) states_.reserve();
    for (size_t i = 0; i < others.size(); ++i) {
      const Grammar& other = *others[i].grammar;
      const uint32_t first = states_.append(other.states());
      states_.define(uint32_t(rules.size() + i), first + other.root());
      if (!json_character_ && other.json_character()) {
        json_character_ = first + *other.json_character();
      }
    }
    const uint32_t end = states_.add({.kind = State::Kind::kReturn});
    for (uint32_t i = 0; i < rules.size(); ++i) states_.define(i, before(rules[i].body, end));
  }

  bool is_full() const { return states_.is_full(); }
  std::vector<State> take() { return states_.take(); }
  /// The character of Grammar: the first of the other grammars'.
  std::optional<uint32_t> json_character() const { return json_character_; }

 private:
  uint32_t before(const Node& node, uint32_t next) {
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return states_.text(node.text, next);
      case Node::Kind::kClass:
        return states_.characters(node.ranges, next);
      case Node::Kind::kRule:
        return states_.call(index_.find(node.text)->second, next);
      case Node::Kind::kSequence:
        for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
          next = before(*child, next);
        }
        return next;
      case Node::Kind::kChoice: {
        uint32_t begin = before(node.children.back(), next);
        for (size_t i = node.children.size() - 1; i-- > 0;) {
          begin = states_.split(before(node.children[i], next), begin);
        }
        return begin;
      }
      case Node::Kind::kRepeat:
        return before_repeat(node, next);
    }
    return next;
  }

  uint32_t before_repeat(const Node& node, uint32_t next) {
    const Node& child = node.children.front();
    if (node.most == Node::kNoLimit) {
      const uint32_t loop = states_.reserve();
      states_.define(loop, next, before(child, loop));
      next = loop;
    } else {
      const uint32_t end = next;
      for (uint32_t i = node.least; i < node.most && !is_full(); ++i) {
        next = states_.split(before(child, next), end);
      }
    }
    for (uint32_t i = 0; i < node.least && !is_full(); ++i) next = before(child, next);
    return next;
  }

  const RuleIndex& index_;
  grammar::StateBuilder states_;
  std::optional<uint32_t> json_character_;
};

}  // namespace

Result<Grammar> Grammar::parse(std::string_view gbnf, std::span<const Named> others) {
  if (gbnf.size() > kMaxTextBytes) {
    return invalid_input("The grammar has {} bytes; at most {} are read.", gbnf.size(),
                         kMaxTextBytes);
  }
  TOK_TRY(const std::vector<Rule> rules, grammar::parse(gbnf));
  RuleIndex index;
  for (uint32_t i = 0; i < rules.size(); ++i) index.emplace(rules[i].name, i);
  std::string source = fmt::format("gbnf:{}", gbnf);
  for (uint32_t i = 0; i < others.size(); ++i) {
    index.emplace(others[i].name, uint32_t(rules.size()) + i);
    source += fmt::format("\n{}={}", others[i].name, others[i].grammar->source());
  }
  const auto root = index.find("root");
  if (root == index.end()) {
    return invalid_input("The grammar has no rule \"root\", which says what a whole text is.");
  }
  for (const Rule& rule : rules) TOK_TRY(check_names(rule.body, index));
  TOK_TRY(LeftRecursion(rules, others, index).check());
  Builder builder(rules, others, index);
  if (builder.is_full()) {
    return invalid_input("The grammar takes more than {} states; its repetitions are too many.",
                         kMaxStates);
  }
  Grammar grammar(builder.take(), root->second, std::move(source));
  if (const auto rule = builder.json_character()) grammar.set_json_character(*rule);
  TOK_TRY(check_start(grammar));
  return grammar;
}

}  // namespace tokamak
