// Names of members that no schema of a branch lists: what they may be, and what follows each.
#include <algorithm>

#include "text/schema/compiler.h"

namespace tokamak::schema {
namespace {

constexpr size_t kMaxParts = 64;

struct Pattern {
  size_t owner = 0;
  SchemaId schema = {};
  Automaton set;
};

struct Part {
  Automaton set;
  std::vector<size_t> patterns;  // that its names match
};

}  // namespace

/// The names that propertyNames allows; nothing where all names may be.
Result<std::optional<Automaton>> Compiler::name_limits(const Branch& branch) {
  std::optional<Automaton> limits;
  for (const SchemaId id : branch.schemas) {
    const Json* own = document_.keyword(id, "propertyNames");
    if (own == nullptr) continue;
    TOK_TRY(const auto all, branches({document_.child(id, *own, "propertyNames")}));
    Automaton names;
    for (const Branch& one : all) {
      TOK_TRY(const Scalars scalars_of_one, scalars(one));
      if ((scalars_of_one.types & kStringType) == 0) continue;
      AutomatonOr set = scalars_of_one.strings;
      if (!set) {
        set = grammar::with_length(Automaton::any(), scalars_of_one.min_length,
                                   scalars_of_one.max_length);
      }
      if (set) set = grammar::united(names, *set);
      if (!set) return document_.refused(id, "propertyNames beyond 20000 states");
      names = *std::move(set);
    }
    TOK_TRY(narrow(id, "propertyNames", limits, std::move(names)));
  }
  return limits;
}

/// Names fall apart by the patterns that they match.
Result<std::vector<Compiler::Names>> Compiler::other_names(const Branch& branch,
                                                           const std::vector<Member>& members,
                                                           const std::optional<Automaton>& limits) {
  std::vector<Pattern> patterns;
  std::vector<bool> has_others(branch.schemas.size());
  std::set<std::string> known;
  for (size_t i = 0; i < branch.schemas.size(); ++i) {
    const SchemaId id = branch.schemas[i];
    has_others[i] = document_.keyword(id, "additionalProperties") != nullptr;
    if (const Json* own = document_.keyword(id, "properties")) {
      for (const auto& [name, schema] : own->as_object()) known.insert(name);
    }
    const Json* own = document_.keyword(id, "patternProperties");
    if (own == nullptr) continue;
    for (const auto& [expression, schema] : own->as_object()) {
      const SchemaId target =
          document_.child(id, schema, "patternProperties/" + pointer_part(expression));
      TOK_TRY(patterns.emplace_back().set, pattern(id, expression));
      patterns.back().owner = i;
      patterns.back().schema = target;
    }
  }
  for (const Member& member : members) known.insert(member.name);
  const auto goal_of = [&](const std::vector<size_t>& matches) {
    std::set<SchemaId> goal;
    std::vector<bool> evaluates = has_others;
    std::vector<bool> has_match(branch.schemas.size());
    for (const size_t match : matches) {
      goal.insert(patterns[match].schema);
      has_match[patterns[match].owner] = evaluates[patterns[match].owner] = true;
    }
    for (size_t i = 0; i < branch.schemas.size(); ++i) {
      const SchemaId id = branch.schemas[i];
      if (has_others[i] && !has_match[i]) {
        goal.insert(document_.child(id, *document_.keyword(id, "additionalProperties"),
                                    "additionalProperties"));
      }
      const Json* rest = document_.keyword(id, "unevaluatedProperties");
      if (rest == nullptr) continue;
      bool is_evaluated = false;
      for (size_t k = 0; k < branch.schemas.size(); ++k) {
        is_evaluated = is_evaluated || (branch.is_below(k, i) && evaluates[k]);
      }
      if (!is_evaluated) goal.insert(document_.child(id, *rest, "unevaluatedProperties"));
    }
    return Goal(goal.begin(), goal.end());
  };
  // Mostly nothing but these may follow, or no others at all: no automaton is needed then.
  if (patterns.empty()) {
    const Goal goal = goal_of({});
    TOK_TRY(const bool never, is_never(goal, 2));
    if (never) return std::vector<Names>();
    if (known.empty() && !limits) return std::vector<Names>{{std::nullopt, goal}};
  }
  const SchemaId place = place_of(branch);
  const std::vector<std::string_view> listed(known.begin(), known.end());
  const AutomatonOr all =
      grammar::difference(limits ? *limits : Automaton::any(), Automaton::of(listed));
  if (!all) return document_.refused(place, "an object whose names take more than 20000 states");
  std::vector<Part> parts = {{*all, {}}};
  for (size_t i = 0; i < patterns.size(); ++i) {
    std::vector<Part> next;
    for (Part& part : parts) {
      TOK_TRY(spend(place));
      AutomatonOr in = grammar::intersection(part.set, patterns[i].set),
                  out = grammar::difference(part.set, patterns[i].set);
      if (!in || !out || next.size() > kMaxParts) {
        return document_.refused(place, "patternProperties beyond 20000 states");
      }
      if (!in->is_empty()) {
        next.push_back({*std::move(in), part.patterns});
        next.back().patterns.push_back(i);
      }
      if (!out->is_empty()) next.push_back({*std::move(out), part.patterns});
    }
    parts = std::move(next);
  }
  std::vector<Names> found;
  for (Part& part : parts) {
    if (part.set.is_empty()) continue;
    Names names{std::move(part.set), goal_of(part.patterns)};
    TOK_TRY(const bool never, is_never(names.goal, 2));
    if (!never) found.push_back(std::move(names));
  }
  return found;
}

}  // namespace tokamak::schema
