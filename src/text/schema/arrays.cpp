// The arrays that a branch allows, and the states for them.
#include <algorithm>
#include <bit>

#include "base/utf8.h"
#include "text/schema/compiler.h"

namespace tokamak::schema {
namespace {

constexpr uint64_t kMaxItems = 10000, kMaxStates = 20000;
constexpr size_t kMaxValues = 10;  // that uniqueItems tells apart

void add_to(Goal& goal, SchemaId id) {
  const auto place = std::ranges::lower_bound(goal, id);
  if (place == goal.end() || *place != id) goal.insert(place, id);
}

}  // namespace

/// The goal of the item at `place`, or of those after all that have schemas of their own.
Result<Goal> Compiler::item_goal(const Branch& branch, std::optional<size_t> place) {
  Goal goal;
  std::vector<bool> evaluates(branch.schemas.size());
  for (size_t i = 0; i < branch.schemas.size(); ++i) {
    const SchemaId id = branch.schemas[i];
    const Json* items = document_.keyword(id, "items");
    const bool is_list = items != nullptr && items->is_array();
    if (is_list && document_.draft() == Draft::k2020) {
      return document_.invalid(id, "items is a list, which is prefixItems since 2020-12");
    }
    bool has_own = false;
    for (const char* name : {"prefixItems", "items", "\1prefix"}) {
      const Json* list = document_.keyword(id, name);
      if (list == nullptr || !list->is_array()) continue;
      if (name == std::string_view("prefixItems") && document_.draft() != Draft::k2020) continue;
      if (!place || *place >= list->as_array().size()) continue;
      add_to(goal,
             document_.child(id, list->as_array()[*place], fmt::format("{}/{}", name, *place)));
      has_own = true;
    }
    const char* rest_name = is_list ? "additionalItems" : "items";
    const Json* rest = document_.keyword(id, rest_name);
    if (rest != nullptr && !has_own) add_to(goal, document_.child(id, *rest, rest_name));
    evaluates[i] = has_own || rest != nullptr;
  }
  for (size_t owner = 0; owner < branch.schemas.size(); ++owner) {
    const SchemaId id = branch.schemas[owner];
    const Json* rest = document_.keyword(id, "unevaluatedItems");
    if (rest == nullptr) continue;
    bool is_evaluated = false;
    for (size_t i = 0; i < branch.schemas.size(); ++i) {
      if (!branch.is_below(i, owner)) continue;
      if (document_.keyword(branch.schemas[i], "contains") != nullptr) {
        return document_.refused(id, "unevaluatedItems beside contains");
      }
      is_evaluated = is_evaluated || evaluates[i];
    }
    if (!is_evaluated) add_to(goal, document_.child(id, *rest, "unevaluatedItems"));
  }
  return goal;
}

Result<Compiler::Array> Compiler::array(const Branch& branch, uint32_t depth) {
  Array own;
  size_t places = 0;
  for (const SchemaId id : branch.schemas) {
    for (const char* name : {"prefixItems", "items", "\1prefix"}) {
      const Json* list = document_.keyword(id, name);
      if (list != nullptr && list->is_array()) places = std::max(places, list->as_array().size());
    }
    TOK_TRY(const auto least, count(id, "minItems"));
    TOK_TRY(const auto most, count(id, "maxItems"));
    if (least) own.least = std::max(own.least, *least);
    if (most) own.most = std::min(own.most, *most);
    const Json* unique = document_.keyword(id, "uniqueItems");
    own.is_unique = own.is_unique || (unique != nullptr && unique->is_bool() && unique->as_bool());
    TOK_TRY(add_contains(id, own));
  }
  for (size_t i = 0; i < places; ++i) {
    TOK_TRY(own.prefix.emplace_back(), item_goal(branch, i));
    TOK_TRY(const bool never, is_never(own.prefix.back(), depth));
    if (never) own.most = std::min(own.most, uint64_t(i));
  }
  TOK_TRY(own.rest, item_goal(branch, std::nullopt));
  TOK_TRY(const bool never, is_never(own.rest, depth));
  if (never) own.most = std::min(own.most, uint64_t(places));
  return own;
}

Result<void> Compiler::add_contains(SchemaId id, Array& own) {
  const Json* contains = document_.keyword(id, "contains");
  if (contains == nullptr) return {};
  TOK_TRY(const auto least, count(id, "minContains"));
  TOK_TRY(const auto most, count(id, "maxContains"));
  const bool is_new = document_.draft() >= Draft::k2019;
  const uint64_t at_least = is_new ? least.value_or(1) : 1;
  if (at_least == 0 && !(is_new && most)) return {};
  if (own.contains) return document_.refused(id, "contains of several schemas at once");
  own.contains = document_.child(id, *contains, "contains");
  own.least_contained = at_least;
  if (is_new && most) own.most_contained = *most;
  return {};
}

Result<uint32_t> Compiler::array_rule(const Branch& branch) {
  TOK_TRY(Array own, array(branch, 2));
  const SchemaId place = place_of(branch);
  if (own.least > own.most) return states_.nothing();
  if (own.least > kMaxItems || own.prefix.size() > kMaxItems) {
    return document_.refused(place, fmt::format("minItems above {}", kMaxItems));
  }
  if (own.is_unique && own.most > 1) return distinct(branch, own);
  if (own.contains) return containing(branch, own);
  const auto item = [&](const Goal& goal, uint32_t next) { return states_.call(rule(goal), next); };
  const auto more = [&](uint32_t next) { return states_.byte(',', ',', space(next)); };
  const uint32_t close = states_.byte(']', ']', end_), space_close = space(close);
  const auto limited = [](uint64_t number) {
    return uint32_t(std::min<uint64_t>(number, Grammar::kNoLimit));
  };
  const uint64_t places = std::min<uint64_t>(own.prefix.size(), own.most);
  const auto written = std::max<uint64_t>(places, 1);  // items before those that are counted
  uint32_t after = space_close;
  if (own.most > written) {
    const uint32_t body = more(item(own.rest, end_));
    const uint64_t room = own.most == UINT64_MAX ? Grammar::kNoLimit : own.most - written;
    after = states_.repeat(body, limited(own.least - std::min(own.least, written)), limited(room),
                           space_close);
  }
  if (own.most == 0) return states_.byte('[', '[', space(close));
  for (uint64_t i = places; i-- > 1;) {
    const uint32_t next = more(item(own.prefix[size_t(i)], after));
    after = i >= own.least ? states_.split(next, space_close) : next;
  }
  const uint32_t first = item(own.item(0), after);
  return states_.byte('[', '[', space(own.least == 0 ? states_.split(first, close) : first));
}

/// Items are counted, and those among them that `contains` asks for.
Result<uint32_t> Compiler::containing(const Branch& branch, const Array& own) {
  const SchemaId place = place_of(branch);
  std::vector<std::vector<SchemaId>> others = {{}};
  if (own.most_contained != UINT64_MAX) {
    others.clear();
    TOK_TRY(const auto negations, negated(*own.contains));
    for (const SchemaId one : negations) others.push_back({one});
  }
  const bool is_open = own.most == UINT64_MAX;
  const bool counts_all = own.most_contained != UINT64_MAX;
  const uint64_t top = is_open ? std::max<uint64_t>({own.least, own.prefix.size(), 1}) : own.most;
  const uint64_t found_top = counts_all ? own.most_contained : own.least_contained;
  if (top > kMaxStates || found_top > kMaxStates || (top + 1) * (found_top + 1) > kMaxStates) {
    return document_.refused(place, "contains in so long a list");
  }
  const auto index = [&](uint64_t i, uint64_t found) {
    return size_t(i * (found_top + 1) + found);
  };
  std::vector<uint32_t> begins;
  for (size_t i = 0; i <= index(top, found_top); ++i) begins.push_back(states_.reserve());
  const uint32_t close = states_.byte(']', ']', end_), space_close = space(close);
  for (uint64_t i = 0; i <= top; ++i) {
    for (uint64_t found = 0; found <= found_top; ++found) {
      std::vector<uint32_t> items, ways;
      const auto add = [&](const std::vector<SchemaId>& more, uint64_t now) {
        Goal goal = own.item(i);
        for (const SchemaId one : more) add_to(goal, one);
        items.push_back(states_.call(rule(goal), begins[index(std::min(i + 1, top), now)]));
      };
      if (i < top || is_open) {
        if (found < found_top) add({*own.contains}, found + 1);
        for (const auto& other : others) add(other, found);
      }
      if (!items.empty()) {
        const uint32_t next = states_.choice(items);
        ways.push_back(i == 0 ? next : states_.byte(',', ',', space(next)));
      }
      if (i >= own.least && found >= own.least_contained) {
        ways.push_back(i == 0 ? close : space_close);
      }
      states_.define(begins[index(i, found)], states_.choice(ways));
    }
  }
  return states_.byte('[', '[', space(begins[0]));
}

/// All values of a goal as JSON writes them, where they are few.
Result<std::vector<std::string>> Compiler::values_of(SchemaId place, const Goal& goal) {
  const auto refused = [&] {
    return document_.refused(
        place, fmt::format("uniqueItems for items of more than {} possible values", kMaxValues));
  };
  std::set<std::string> values;
  TOK_TRY(const auto all, branches(goal));
  for (const Branch& one : all) {
    TOK_TRY(const Scalars own, scalars(one));
    if ((own.types & (kArrayType | kObjectType)) != 0) return refused();
    if (own.types & kNullType) values.insert("null");
    if ((own.types & kBooleanType) != 0 && own.has_true) values.insert("true");
    if ((own.types & kBooleanType) != 0 && own.has_false) values.insert("false");
    for (const bool is_text : {false, true}) {
      if ((own.types & (is_text ? kStringType : kNumberType)) == 0) continue;
      AutomatonOr set = is_text ? own.strings : own.numbers;
      if (!set) return refused();
      if (!is_text) {
        const AutomatonOr rest = grammar::difference(*set, whole_numbers());
        set = grammar::intersection(*set, integers());
        if (!rest || !rest->is_empty() || !set) return refused();
      }
      const auto texts = set->texts(kMaxValues);
      if (!texts) return refused();
      for (const std::u32string& text : *texts) {
        std::string bytes;
        for (const char32_t c : text) append_utf8(bytes, c);
        values.insert(is_text ? Json(bytes).dump() : bytes);
      }
    }
  }
  if (values.size() > kMaxValues) return refused();
  return std::vector<std::string>(values.begin(), values.end());
}

/// Which values there have been is a part of the state.
Result<uint32_t> Compiler::distinct(const Branch& branch, const Array& own) {
  const SchemaId place = place_of(branch);
  if (!own.prefix.empty() || own.contains) {
    return document_.refused(place, "uniqueItems beside prefixItems or contains");
  }
  TOK_TRY(const std::vector<std::string> values, values_of(place, own.rest));
  if (own.least > values.size()) return states_.nothing();
  const uint32_t sets = 1u << values.size();
  const uint32_t close = states_.byte(']', ']', end_), space_close = space(close);
  std::vector<uint32_t> begins(sets);
  for (uint32_t set = sets; set-- > 0;) {
    const auto count = uint64_t(std::popcount(set));
    std::vector<uint32_t> items, ways;
    for (size_t i = 0; i < values.size() && count < own.most; ++i) {
      if ((set >> i & 1) == 0) items.push_back(states_.text(values[i], begins[set | 1u << i]));
    }
    if (!items.empty()) {
      const uint32_t next = states_.choice(items);
      ways.push_back(count == 0 ? next : states_.byte(',', ',', space(next)));
    }
    if (count >= own.least) ways.push_back(count == 0 ? close : space_close);
    begins[set] = states_.choice(ways);
  }
  return states_.byte('[', '[', space(begins[0]));
}

}  // namespace tokamak::schema
