// The opposite of a schema, where its keywords have one that can be held.
#include <algorithm>
#include <array>

#include "text/schema/branch_state.h"
#include "text/schema/formats.h"

namespace tokamak::schema {
namespace {

constexpr std::array<std::string_view, 7> kTypeNames = {"null",   "boolean", "number", "integer",
                                                        "string", "array",   "object"};

Json typed(const char* type) {
  return Json().set("type", type);
}

/// Keywords whose opposite is not known.
bool is_hard(std::string_view name) {
  static const std::set<std::string_view> names = {"oneOf",
                                                   "if",
                                                   "dependentRequired",
                                                   "dependentSchemas",
                                                   "dependencies",
                                                   "uniqueItems",
                                                   "unevaluatedProperties",
                                                   "unevaluatedItems",
                                                   "propertyNames",
                                                   "patternProperties",
                                                   "additionalProperties",
                                                   "prefixItems",
                                                   "additionalItems",
                                                   "$dynamicRef",
                                                   "$recursiveRef"};
  return names.contains(name) || name.starts_with('\1');
}

}  // namespace

/// Schemas of which a value satisfies one where it does not satisfy `id`.
Result<std::vector<SchemaId>> Compiler::negated(SchemaId id) {
  if (const auto known = negations_.find(id); known != negations_.end()) return known->second;
  std::vector<SchemaId> out;
  const Json json = document_.json(id);
  if (json.is_bool()) {
    if (!json.as_bool()) out.push_back(document_.add(id, true));
    return out;
  }
  if (!json.is_object()) return document_.invalid(id, "this is no schema");
  if (negating_.size() >= kMaxNesting || !negating_.insert(id).second)
    return document_.refused(id, "the opposite of itself");
  const bool only_reference = document_.draft() <= Draft::k7 && json.find("$ref") != nullptr;
  std::set<std::string_view> seen;
  for (const auto& [name, value] : json.as_object()) {
    if (only_reference && name != "$ref") continue;
    if (!seen.insert(name).second) continue;
    TOK_TRY(spend(id));
    const auto status = negate_keyword(id, name, *json.find(name), out);
    if (!status) {
      negating_.erase(id);
      return Failure(status.error());
    }
  }
  negating_.erase(id);
  negations_.emplace(id, out);
  opposites_.insert(out.begin(), out.end());
  return out;
}

Result<void> Compiler::negate_type(SchemaId id, std::vector<SchemaId>& out) {
  const auto add = [&](Json json) { out.push_back(document_.add(id, std::move(json))); };
  bool integers_only = false;
  TOK_TRY(const uint8_t types, types_of(id, integers_only));
  Json::Array others;
  constexpr std::array<uint8_t, 7> kBits = {kNullType,   kBooleanType, kNumberType, 0,
                                            kStringType, kArrayType,   kObjectType};
  for (size_t i = 0; i < kBits.size(); ++i) {
    if ((kBits[i] & kAllTypes & ~types) != 0) others.emplace_back(kTypeNames[i]);
  }
  if (!others.empty()) add(Json().set("type", std::move(others)));
  if (integers_only) {
    if (document_.draft() == Draft::k4) {
      return document_.refused(id, "the opposite of the type integer in draft 4");
    }
    add(typed("number").set("\1fraction", true));
  }
  return {};
}

Result<void> Compiler::negate_count(SchemaId id, const std::string& name,
                                    std::vector<SchemaId>& out) {
  struct Bound {
    const char *name, *type, *other;
    bool is_min;
  };
  for (const Bound& bound :
       {Bound{"minLength", "string", "maxLength", true},
        Bound{"maxLength", "string", "minLength", false},
        Bound{"minItems", "array", "maxItems", true}, Bound{"maxItems", "array", "minItems", false},
        Bound{"minProperties", "object", "maxProperties", true},
        Bound{"maxProperties", "object", "minProperties", false}}) {
    if (name != bound.name) continue;
    TOK_TRY(const auto number, count(id, name));
    if (bound.is_min && *number == 0) continue;
    out.push_back(document_.add(
        id, typed(bound.type).set(bound.other, bound.is_min ? *number - 1 : *number + 1)));
  }
  return {};
}

Result<void> Compiler::negate_keyword(SchemaId id, const std::string& name, const Json& value,
                                      std::vector<SchemaId>& out) {
  const auto add = [&](Json json) { out.push_back(document_.add(id, std::move(json))); };
  if (name == "$ref" && value.is_string()) {
    TOK_TRY(const SchemaId target, document_.resolve(id, value.as_string()));
    TOK_TRY(const auto more, negated(target));
    out.insert(out.end(), more.begin(), more.end());
  } else if (name == "type") {
    return negate_type(id, out);
  } else if (name == "enum" || name == "const") {
    Json::Array scalars, all;
    for (const Json& one : name == "const" ? Json::Array{value} : value.as_array()) {
      if (one.is_array() || one.is_object()) {
        all.push_back(Json().set("not", document_.json(structure(id, one))));
      } else {
        scalars.push_back(one);
      }
    }
    if (!scalars.empty()) all.push_back(Json().set("\1notIn", std::move(scalars)));
    add(Json().set("allOf", std::move(all)));
  } else if (name == "required" && value.is_array()) {
    for (const Json& one : value.as_array()) {
      if (!one.is_string()) return document_.invalid(id, "required is no list of names");
      add(typed("object").set("properties", Json().set(one.as_string(), false)));
    }
  } else if (name == "properties" && value.is_object()) {
    for (const auto& [property, schema] : value.as_object()) {
      Json present = typed("object").set("required", Json::Array{property});
      add(present.set("properties", Json().set(property, Json().set("not", schema))));
    }
  } else if (name == "minimum" || name == "maximum" || name == "exclusiveMinimum" ||
             name == "exclusiveMaximum") {
    const bool is_low = name.ends_with("inimum"), is_old = value.is_bool();
    if (is_old) return {};  // part of the bound itself
    const Json* border = document_.keyword(id, is_low ? "exclusiveMinimum" : "exclusiveMaximum");
    const bool excluded =
        name.starts_with("ex") || (border != nullptr && border->is_bool() && border->as_bool());
    const std::string flipped = is_low ? "aximum" : "inimum";
    add(typed("number").set((excluded ? "\1m" : "\1exclusiveM") + flipped, value));
  } else if (name == "multipleOf") {
    add(typed("number").set("\1notMultipleOf", value));
  } else if (name == "pattern") {
    add(typed("string").set("\1notPattern", value));
  } else if (name == "format") {
    if (value.is_string() && automaton_of_format(value.as_string()) != nullptr) {
      return document_.refused(id, "the opposite of format");
    }
  } else if (name.starts_with("min") || (name.starts_with("max") && name != "maxContains")) {
    return negate_count(id, name, out);
  } else if (name == "allOf") {
    TOK_TRY(const auto all, list_of(id, "allOf"));
    for (const SchemaId one : all) {
      TOK_TRY(const auto more, negated(one));
      out.insert(out.end(), more.begin(), more.end());
    }
  } else if (name == "anyOf" && value.is_array()) {
    Json::Array none;
    for (const Json& one : value.as_array()) none.push_back(Json().set("not", one));
    add(Json().set("allOf", std::move(none)));
  } else if (name == "not") {
    add(value);
  } else if (name == "items" && !value.is_array() &&
             document_.keyword(id, "prefixItems") == nullptr) {
    add(typed("array").set("contains", Json().set("not", value)));
  } else if (name == "contains" && document_.keyword(id, "minContains") == nullptr &&
             document_.keyword(id, "maxContains") == nullptr) {
    add(typed("array").set("items", Json().set("not", value)));
  } else if (name == "contains" || name == "items" || is_hard(name)) {
    return document_.refused(
        id, fmt::format("the opposite of {}", name.starts_with('\1') ? name.substr(1) : name));
  }
  return {};  // everything else lets all values through, and its opposite none
}

}  // namespace tokamak::schema
