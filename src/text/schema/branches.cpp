// Goals -> branches: references, allOf, anyOf, oneOf, not and conditions.
#include <algorithm>
#include <ranges>

#include "text/schema/branch_state.h"

namespace tokamak::schema {
namespace {

bool is_compound(const Json& value) {
  return value.is_array() || value.is_object();
}

Json list(std::initializer_list<Json> values) {
  return Json(Json::Array(values));
}

}  // namespace

/// Bounds the time that a schema takes.
Result<void> Compiler::spend(SchemaId id, size_t steps) {
  steps_ += steps;
  if (steps_ <= kMaxSteps) return {};
  return document_.refused(id, "a schema with more combinations of its parts than are tried");
}

Result<std::vector<SchemaId>> Compiler::list_of(SchemaId id, std::string_view name) {
  std::vector<SchemaId> found;
  const Json* own = document_.keyword(id, name);
  if (own == nullptr) return found;
  if (!own->is_array()) {
    return document_.invalid(id, fmt::format("{} is no list of schemas", name));
  }
  size_t i = 0;
  for (const Json& one : own->as_array()) {
    found.push_back(document_.child(id, one, fmt::format("{}/{}", name, i++)));
  }
  return found;
}

Result<std::vector<Branch>> Compiler::branches(const Goal& goal) {
  const auto known = branches_.find(goal);
  if (known != branches_.end()) return known->second;
  Partial start;
  for (const SchemaId id : std::views::reverse(goal)) {
    start.open.emplace_back(id, Branch::kNoParent);
  }
  TOK_TRY(std::vector<Branch> made, expanded(std::move(start)));
  branches_.emplace(goal, made);
  return made;
}

Result<std::vector<Branch>> Compiler::expanded(Partial start) {
  std::vector<Branch> found;
  std::vector<Partial> partials;
  partials.push_back(std::move(start));
  while (!partials.empty()) {
    Partial own = std::move(partials.back());
    partials.pop_back();
    bool fails = false;
    while (!own.open.empty() && !fails) {
      const auto [id, parent] = own.open.back();
      own.open.pop_back();
      TOK_TRY(spend(id));
      const Json& json = document_.json(id);
      if (json.is_bool()) {
        fails = !json.as_bool();
        continue;
      }
      if (!json.is_object()) {
        return document_.invalid(id,
                                 fmt::format("a schema is an object, true or false, but this is {}",
                                             kind_name(json.kind())));
      }
      if (std::ranges::find(own.branch.schemas, id) != own.branch.schemas.end()) continue;
      const auto index = uint32_t(own.branch.schemas.size());
      own.branch.schemas.push_back(id);
      own.branch.parents.push_back(opposites_.contains(id) ? Branch::kNoParent : parent);
      bool integers_only = false;
      TOK_TRY(const uint8_t types, types_of(id, integers_only));
      own.types &= types;
      fails = own.types == 0;
      if (fails) break;
      TOK_TRY(Ways more, ways(id, own));
      for (const SchemaId one : std::views::reverse(more.all)) own.open.emplace_back(one, index);
      for (auto& choice : more.choices) own.choices.push_back({std::move(choice), index});
    }
    if (fails) continue;
    if (own.choices.empty()) {
      found.push_back(std::move(own.branch));
      if (found.size() > kMaxBranches) {
        return document_.refused(found.front().schemas.front(),
                                 fmt::format("a choice among more than {} combinations of anyOf, "
                                             "oneOf and their like",
                                             kMaxBranches));
      }
      continue;
    }
    const Choice choice = std::move(own.choices.back());
    own.choices.pop_back();
    for (auto way = choice.ways.rbegin(); way != choice.ways.rend(); ++way) {
      Partial next = own;
      for (const SchemaId one : std::views::reverse(*way))
        next.open.emplace_back(one, choice.parent);
      partials.push_back(std::move(next));
    }
  }
  return found;
}

/// The ways that `id` allows apart from its own keywords for types of values.
Result<Compiler::Ways> Compiler::ways(SchemaId id, const Partial& partial) {
  Ways out;
  for (const char* name : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    const Json* reference = document_.keyword(id, name);
    if (reference == nullptr) continue;
    if (!reference->is_string()) return document_.invalid(id, fmt::format("{} is no text", name));
    if (name != std::string_view("$ref") && !document_.is_static(reference->as_string())) {
      return document_.refused(id,
                               fmt::format("{}, whose meaning depends on what leads to it,", name));
    }
    TOK_TRY(const SchemaId target, document_.resolve(id, reference->as_string()));
    out.all.push_back(target);
  }
  TOK_TRY(const auto all, list_of(id, "allOf"));
  out.all.insert(out.all.end(), all.begin(), all.end());
  if (document_.keyword(id, "anyOf") != nullptr) {
    TOK_TRY(const auto any, list_of(id, "anyOf"));
    auto& choice = out.choices.emplace_back();
    for (const SchemaId one : any) choice.push_back({one});
  }
  if (document_.keyword(id, "oneOf") != nullptr) TOK_TRY(add_one_of(id, partial, out));
  if (const Json* other = document_.keyword(id, "not")) {
    TOK_TRY(const auto negations, negated(document_.child(id, *other, "not")));
    auto& choice = out.choices.emplace_back();
    for (const SchemaId one : negations) choice.push_back({one});
  }
  TOK_TRY(add_conditions(id, out));
  TOK_TRY(add_values(id, out));
  return out;
}

/// Exactly one of several is any of them where no two can be at once; of two that can, each without
/// the other.
Result<void> Compiler::add_one_of(SchemaId id, const Partial& partial, Ways& out) {
  TOK_TRY(const auto list, list_of(id, "oneOf"));
  if (nesting_ >= kMaxNesting) return document_.refused(id, "oneOf in more than 64 others");
  ++nesting_;
  auto& choice = out.choices.emplace_back();
  std::vector<std::vector<SchemaId>> others(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    for (size_t k = i + 1; k < list.size(); ++k) {
      Partial both;
      both.branch = partial.branch;
      both.types = partial.types;
      both.open = {{list[i], Branch::kNoParent}, {list[k], Branch::kNoParent}};
      TOK_TRY(const auto overlap, expanded(std::move(both)));
      bool is_apart = true;
      for (const Branch& one : overlap) {
        TOK_TRY(const bool never, is_never(one, 4));
        is_apart = is_apart && never;
      }
      if (is_apart) continue;
      others[i].push_back(list[k]);
      others[k].push_back(list[i]);
    }
  }
  for (size_t i = 0; i < list.size(); ++i) {
    std::vector<std::vector<SchemaId>> all = {{list[i]}};
    for (const SchemaId other : others[i]) {
      auto negations = negated(other);
      if (!negations) {
        return document_.refused(
            id, fmt::format("oneOf of schemas that a value may satisfy at once ({})",
                            negations.error().message));
      }
      std::vector<std::vector<SchemaId>> next;
      for (const auto& way : all) {
        for (const SchemaId one : *negations) {
          next.push_back(way);
          next.back().push_back(one);
          TOK_TRY(spend(id));
        }
      }
      all = std::move(next);
    }
    choice.insert(choice.end(), all.begin(), all.end());
  }
  --nesting_;
  return {};
}

/// if, dependentRequired, dependentSchemas and dependencies.
Result<void> Compiler::add_conditions(SchemaId id, Ways& out) {
  const Json *condition = document_.keyword(id, "if"), *then = document_.keyword(id, "then"),
             *otherwise = document_.keyword(id, "else");
  if (condition != nullptr && (then != nullptr || otherwise != nullptr)) {
    const SchemaId holds = document_.child(id, *condition, "if");
    std::vector<SchemaId> first = {holds};
    if (then != nullptr) first.push_back(document_.child(id, *then, "then"));
    auto negations = negated(holds);
    if (!negations) {
      return document_.refused(id,
                               fmt::format("if with a condition that cannot be turned round ({})",
                                           negations.error().message));
    }
    auto& choice = out.choices.emplace_back();
    choice.push_back(std::move(first));
    for (const SchemaId one : *negations) {
      choice.push_back({one});
      if (otherwise != nullptr) choice.back().push_back(document_.child(id, *otherwise, "else"));
    }
  }
  for (const char* name : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    const Json* own = document_.keyword(id, name);
    if (own == nullptr) continue;
    if (!own->is_object()) return document_.invalid(id, fmt::format("{} is no object", name));
    for (const auto& [property, needed] : own->as_object()) {
      Json absent, present;
      absent.set("properties", Json().set(property, false));
      Json::Array required = {property};
      std::vector<SchemaId> way;
      if (needed.is_array()) {
        for (const Json& one : needed.as_array()) required.push_back(one);
      } else if (name != std::string_view("dependentRequired")) {
        way.push_back(
            document_.child(id, needed, fmt::format("{}/{}", name, pointer_part(property))));
      } else {
        return document_.invalid(id, fmt::format("{} has no list of names", name));
      }
      present.set("required", std::move(required));
      way.push_back(document_.add(id, std::move(present)));
      out.choices.push_back({{document_.add(id, std::move(absent))}, std::move(way)});
    }
  }
  return {};
}

/// Lists and objects among the values of enum and const become schemas of their own.
Result<void> Compiler::add_values(SchemaId id, Ways& out) {
  if (const Json* only = document_.keyword(id, "const"); only != nullptr && is_compound(*only)) {
    out.all.push_back(structure(id, *only));
  }
  const Json* values = document_.keyword(id, "enum");
  if (values == nullptr) return {};
  if (!values->is_array()) return document_.invalid(id, "enum is no list of values");
  if (std::ranges::none_of(values->as_array(), is_compound)) return {};
  auto& choice = out.choices.emplace_back();
  Json::Array scalars;
  for (const Json& value : values->as_array()) {
    if (is_compound(value)) {
      choice.push_back({structure(id, value)});
    } else {
      scalars.push_back(value);
    }
  }
  if (!scalars.empty()) {
    choice.push_back({document_.add(id, Json().set("enum", std::move(scalars)))});
  }
  return {};
}

/// A schema for the value alone.
SchemaId Compiler::structure(SchemaId origin, const Json& value) {
  const std::function<Json(const Json&)> of = [&](const Json& one) {
    Json made;
    if (one.is_array()) {
      Json::Array items;
      for (const Json& item : one.as_array()) items.push_back(of(item));
      const auto size = uint64_t(items.size());
      made.set("type", "array").set("minItems", size).set("maxItems", size);
      if (size > 0) made.set("\1prefix", std::move(items));
    } else if (one.is_object()) {
      Json properties(Json::Object{});
      Json::Array names;
      for (const auto& [name, member] : one.as_object()) {
        if (properties.find(name) == nullptr) names.emplace_back(name);
        properties.set(name, of(*one.find(name)));
      }
      made.set("type", "object").set("properties", std::move(properties));
      made.set("required", std::move(names)).set("additionalProperties", false);
    } else {
      made.set("enum", list({one}));
    }
    return made;
  };
  return document_.add(origin, of(value));
}

/// Whether no value satisfies the goal, as far as is found without looking deeper than `depth`.
Result<bool> Compiler::is_never(const Goal& goal, uint32_t depth) {
  if (depth == 0) return false;
  if (const auto known = never_.find(goal); known != never_.end()) return known->second;
  TOK_TRY(const auto all, branches(goal));
  for (const Branch& one : all) {
    TOK_TRY(const bool never, is_never(one, depth));
    if (!never) return false;
  }
  never_.emplace(goal, true);
  return true;
}

/// The same of a branch.
Result<bool> Compiler::is_never(const Branch& branch, uint32_t depth) {
  if (branch.schemas.empty()) return false;
  TOK_TRY(const Scalars own, scalars(branch));
  if ((own.types & ~(kArrayType | kObjectType)) != 0) return false;
  if (own.types & kArrayType) {
    TOK_TRY(const Array array_of_branch, array(branch, depth - 1));
    if (array_of_branch.least <= array_of_branch.most) return false;
  }
  if (own.types & kObjectType) {
    TOK_TRY(const Object object_of_branch, object(branch, depth - 1));
    if (!object_of_branch.is_never) return false;
  }
  return true;
}

}  // namespace tokamak::schema
