// The objects that a branch allows, and the states for them.
#include <algorithm>

#include "text/schema/compiler.h"

namespace tokamak::schema {
namespace {

constexpr uint64_t kMaxCount = 64;

void add_to(Goal& goal, SchemaId id) {
  const auto place = std::ranges::lower_bound(goal, id);
  if (place == goal.end() || *place != id) goal.insert(place, id);
}

}  // namespace

/// Members in the schemas' order, then those that are only required. Other names are left out here.
Result<Compiler::Object> Compiler::object(const Branch& branch, uint32_t depth) {
  Object own;
  std::vector<std::string> names;
  std::set<std::string> seen, required;
  for (const SchemaId id : branch.schemas) {
    const Json* properties = document_.keyword(id, "properties");
    if (properties == nullptr) continue;
    if (!properties->is_object()) return document_.invalid(id, "properties is no object");
    for (const auto& [name, schema] : properties->as_object()) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  for (const SchemaId id : branch.schemas) {
    const Json* list = document_.keyword(id, "required");
    if (list != nullptr && !list->is_bool()) {  // draft 3 has a truth value there
      if (!list->is_array()) return document_.invalid(id, "required is no list of names");
      for (const Json& name : list->as_array()) {
        if (!name.is_string()) return document_.invalid(id, "required is no list of names");
        required.insert(name.as_string());
        if (seen.insert(name.as_string()).second) names.push_back(name.as_string());
      }
    }
    TOK_TRY(const auto least, count(id, "minProperties"));
    TOK_TRY(const auto most, count(id, "maxProperties"));
    if (least) own.least = std::max(own.least, *least);
    if (most) own.most = std::min(own.most, *most);
  }
  TOK_TRY(const auto limits, name_limits(branch));
  for (const std::string& name : names) {
    TOK_TRY(spend(place_of(branch)));
    Member member{.name = name, .goal = {}, .is_required = required.contains(name)};
    TOK_TRY(member.goal, member_goal(branch, name));
    bool never = limits && !limits->accepts(name);
    if (!never && depth > 0) {
      TOK_TRY(never, is_never(member.goal, depth));
    }
    if (never) {
      own.is_never = own.is_never || member.is_required;
      member.goal.clear();
    }
    if (!never) own.members.push_back(std::move(member));
  }
  own.is_never = own.is_never || own.least > own.most || required.size() > own.most;
  return own;
}

/// The goal of the member `name`.
Result<Goal> Compiler::member_goal(const Branch& branch, const std::string& name) {
  Goal goal;
  std::vector<bool> evaluates(branch.schemas.size());
  for (size_t i = 0; i < branch.schemas.size(); ++i) {
    const SchemaId id = branch.schemas[i];
    bool is_known = false;
    if (const Json* properties = document_.keyword(id, "properties")) {
      if (const Json* own = properties->find(name)) {
        add_to(goal, document_.child(id, *own, "properties/" + pointer_part(name)));
        is_known = true;
      }
    }
    if (const Json* patterns = document_.keyword(id, "patternProperties")) {
      if (!patterns->is_object()) return document_.invalid(id, "patternProperties is no object");
      for (const auto& [expression, schema] : patterns->as_object()) {
        TOK_TRY(const Automaton set, pattern(id, expression));
        if (!set.accepts(name)) continue;
        add_to(goal, document_.child(id, schema, "patternProperties/" + pointer_part(expression)));
        is_known = true;
      }
    }
    const Json* others = document_.keyword(id, "additionalProperties");
    if (others != nullptr && !is_known) {
      add_to(goal, document_.child(id, *others, "additionalProperties"));
    }
    evaluates[i] = is_known || others != nullptr;
  }
  for (size_t owner = 0; owner < branch.schemas.size(); ++owner) {
    const Json* rest = document_.keyword(branch.schemas[owner], "unevaluatedProperties");
    if (rest == nullptr) continue;
    bool is_evaluated = false;
    for (size_t i = 0; i < branch.schemas.size(); ++i) {
      is_evaluated = is_evaluated || (branch.is_below(i, owner) && evaluates[i]);
    }
    if (!is_evaluated) {
      add_to(goal, document_.child(branch.schemas[owner], *rest, "unevaluatedProperties"));
    }
  }
  return goal;
}

Result<uint32_t> Compiler::object_rule(const Branch& branch) {
  TOK_TRY(Object own, object(branch, 2));
  if (own.is_never) return states_.nothing();
  TOK_TRY(const auto limits, name_limits(branch));
  if (own.most > 0) {
    TOK_TRY(own.others, other_names(branch, own.members, limits));
  }
  const auto needed = uint64_t(std::ranges::count_if(own.members, &Member::is_required));
  const uint64_t members = own.members.size();
  if (own.least <= needed) own.least = 0;
  if (own.others.empty() && own.most >= members) own.most = UINT64_MAX;
  if (own.least > members && own.others.empty()) return states_.nothing();
  const SchemaId place = place_of(branch);
  // Other names may be the same, so that only the first of them counts for sure.
  if (own.least > members + 1) {
    return document_.refused(
        place, fmt::format("minProperties {}, beyond the names in properties,", own.least));
  }
  const uint64_t counted = own.most == UINT64_MAX ? own.least : own.most;
  if (counted > kMaxCount) {
    return document_.refused(place,
                             fmt::format("minProperties or maxProperties above {}", kMaxCount));
  }
  return object_states(own);
}

uint32_t Compiler::object_states(const Object& own) {
  // A place in the object: how many members were passed over or written, and how many written, of
  // which as many are told apart as make a difference.
  const size_t members = own.members.size();
  const bool is_bounded = own.most != UINT64_MAX;
  const auto top = uint32_t(is_bounded ? own.most : std::max<uint64_t>(own.least, 1));
  const auto after_one = [&](uint32_t written) {
    return is_bounded ? written + 1 : std::min(written + 1, top);
  };
  const uint32_t close = states_.byte('}', '}', end_);
  const uint32_t space_close = space(close);
  const auto value = [&](const Goal& goal, uint32_t next) {
    return states_.byte(':', ':', space(states_.call(rule(goal), next)));
  };
  // Other names: `counts` as minProperties sees them, `written` as maxProperties does.
  const std::function<uint32_t(uint32_t, uint32_t)> other = [&](uint32_t counts, uint32_t written) {
    if (own.others.empty() || (is_bounded && written >= top)) return states_.nothing();
    const uint32_t next = is_bounded ? 0 : states_.reserve();
    std::vector<uint32_t> ends, begins;
    if (counts + 1 >= own.least) ends.push_back(space_close);
    uint32_t after = next;
    if (is_bounded) {
      const uint32_t more = other(counts, written + 1);
      ends.push_back(states_.byte(',', ',', space(more)));
      after = states_.choice(ends);
    }
    for (const Names& names : own.others) {
      begins.push_back(string_of(names.set, 0, Grammar::kNoLimit, value(names.goal, after)));
    }
    const uint32_t begin = states_.choice(begins);
    if (!is_bounded) {
      ends.push_back(states_.byte(',', ',', space(begin)));
      states_.define(next, states_.choice(ends));
    }
    return begin;
  };
  const auto may_close = [&](size_t from, uint32_t written) {
    return written >= own.least &&
           std::none_of(own.members.begin() + std::ptrdiff_t(from), own.members.end(),
                        [](const Member& one) { return one.is_required; });
  };
  std::vector<uint32_t> keys(top + 1), tails(top + 1);
  const auto add_tails = [&](size_t from) {
    for (uint32_t written = 0; written <= top; ++written) {
      std::vector<uint32_t> ways = {written == 0 ? keys[0]
                                                 : states_.byte(',', ',', space(keys[written]))};
      if (may_close(from, written)) ways.push_back(written == 0 ? close : space_close);
      tails[written] = states_.choice(ways);
    }
  };
  for (uint32_t written = 0; written <= top; ++written) keys[written] = other(written, written);
  add_tails(members);
  for (size_t i = members; i-- > 0 && !states_.is_full();) {
    const Member& member = own.members[i];
    for (uint32_t written = 0; written <= top; ++written) {
      std::vector<uint32_t> ways;
      const uint32_t next = after_one(written);
      if (next <= top) ways.push_back(quoted(member.name, value(member.goal, tails[next])));
      if (!member.is_required) ways.push_back(keys[written]);
      keys[written] = states_.choice(ways);
    }
    add_tails(i);
  }
  return states_.byte('{', '{', space(tails[0]));
}

}  // namespace tokamak::schema
