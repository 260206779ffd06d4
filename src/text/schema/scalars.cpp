// The null, true and false, numbers and strings that a branch allows.
#include <algorithm>
#include <cmath>

#include "text/grammar/regular_expression.h"
#include "text/schema/compiler.h"
#include "text/schema/formats.h"

namespace tokamak::schema {
namespace {

using grammar::intersection;

bool is_one_of(const Json& value, const Json::Array& values) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

Result<uint8_t> Compiler::types_of(SchemaId id, bool& integers_only) {
  const Json* own = document_.keyword(id, "type");
  if (own == nullptr) return uint8_t{kAllTypes};
  uint8_t types = 0;
  bool has_integer = false;
  for (const Json& one : own->is_array() ? own->as_array() : Json::Array{*own}) {
    const std::string name = one.is_string() ? one.as_string() : "";
    if (name == "null") {
      types |= kNullType;
    } else if (name == "boolean") {
      types |= kBooleanType;
    } else if (name == "number") {
      types |= kNumberType;
    } else if (name == "integer") {
      has_integer = true;
    } else if (name == "string") {
      types |= kStringType;
    } else if (name == "array") {
      types |= kArrayType;
    } else if (name == "object") {
      types |= kObjectType;
    } else if (name == "any" && document_.draft() == Draft::k4) {
      types = kAllTypes;
    } else {
      return document_.invalid(id, fmt::format("type {} is none of JSON's", shown(one)));
    }
  }
  integers_only = has_integer && (types & kNumberType) == 0;
  return uint8_t(types | (has_integer ? kNumberType : 0));
}

Result<std::optional<uint64_t>> Compiler::count(SchemaId id, std::string_view name) {
  const Json* own = document_.keyword(id, name);
  if (own == nullptr) return std::optional<uint64_t>();
  const double value = own->is_number() ? own->as_number() : -1;
  if (!(value >= 0) || value != std::floor(value)) {
    return document_.invalid(id, fmt::format("{} is {}, expected a whole number that is not "
                                             "negative",
                                             name, shown(*own)));
  }
  return std::optional<uint64_t>(uint64_t(std::min(value, 4e9)));
}

/// `set` and `other`, which is nothing where it would be too large.
Result<void> Compiler::narrow(SchemaId id, std::string_view name, std::optional<Automaton>& set,
                              AutomatonOr other) {
  if (other && set) other = intersection(*set, *other);
  if (!other) return document_.refused(id, fmt::format("{} beyond 20000 states", name));
  set = std::move(other);
  return spend(id, set->states().size());
}

Result<Automaton> Compiler::pattern(SchemaId id, const std::string& expression) {
  const auto known = patterns_.find(expression);
  if (known != patterns_.end()) return known->second;
  auto made = grammar::automaton_of(expression, grammar::Match::kAnywhere);
  if (!made) {
    return made.error().code == ErrorCode::kUnsupported
               ? document_.refused(
                     id, fmt::format("pattern \"{}\" ({})", expression, made.error().message))
               : document_.invalid(
                     id, fmt::format("pattern \"{}\": {}", expression, made.error().message));
  }
  TOK_TRY(spend(id, made->states().size()));
  patterns_.emplace(expression, *made);
  return *std::move(made);
}

Result<Scalars> Compiler::scalars(const Branch& branch) {
  Scalars own;
  for (const SchemaId id : branch.schemas) {
    bool integers_only = false;
    TOK_TRY(const uint8_t types, types_of(id, integers_only));
    own.types &= types;
    own.integers_only = own.integers_only || integers_only;
  }
  for (const SchemaId id : branch.schemas) {
    if (own.types & kNumberType) TOK_TRY(narrow_numbers(id, own));
    if (own.types & kStringType) TOK_TRY(narrow_strings(id, own));
    TOK_TRY(narrow_to_values(id, own));
  }
  if (own.integers_only && own.numbers) {
    TOK_TRY(narrow(place_of(branch), "type", own.numbers, integers()));
  }
  if (own.numbers && own.numbers->is_empty()) own.types &= ~kNumberType;
  if (own.strings && own.strings->is_empty()) own.types &= ~kStringType;
  if (own.strings && (own.min_length > 0 || own.max_length != Grammar::kNoLimit)) {
    own.strings = grammar::with_length(*own.strings, own.min_length, own.max_length);
    if (!own.strings) {
      return document_.refused(place_of(branch),
                               "a pattern whose lengths take more than 20000 states");
    }
    if (own.strings->is_empty()) own.types &= ~kStringType;
  }
  if (own.min_length > own.max_length) own.types &= ~kStringType;
  if (!own.has_true && !own.has_false) own.types &= ~kBooleanType;
  return own;
}

Result<void> Compiler::narrow_numbers(SchemaId id, Scalars& own) {
  const auto bound = [&](const char* name, bool is_low, bool excluded) -> Result<void> {
    const Json* value = document_.keyword(id, name);
    if (value == nullptr || value->is_bool()) return {};
    if (!value->is_number()) return document_.invalid(id, fmt::format("{} is no number", name));
    auto decimal = decimal_of(*value);
    if (!decimal)
      return document_.refused(id, fmt::format("{} ({})", name, decimal.error().message));
    const Border border = excluded ? Border::kExcluded : Border::kIncluded;
    return narrow(id, name, own.numbers,
                  is_low ? at_least(*decimal, border) : at_most(*decimal, border));
  };
  // Draft 4 has truth values beside the bound.
  const auto is_set = [&](const char* name) {
    const Json* value = document_.keyword(id, name);
    return value != nullptr && value->is_bool() && value->as_bool();
  };
  TOK_TRY(bound("minimum", true, is_set("exclusiveMinimum")));
  TOK_TRY(bound("maximum", false, is_set("exclusiveMaximum")));
  for (const bool is_ours : {false, true}) {
    const size_t skip = is_ours ? 0 : 1;
    TOK_TRY(bound(&"\1exclusiveMinimum"[skip], true, true));
    TOK_TRY(bound(&"\1exclusiveMaximum"[skip], false, true));
  }
  TOK_TRY(bound("\1minimum", true, false));
  TOK_TRY(bound("\1maximum", false, false));
  for (const char* name : {"multipleOf", "\1notMultipleOf"}) {
    const Json* value = document_.keyword(id, name);
    if (value == nullptr) continue;
    if (!value->is_number() || !(value->as_number() > 0)) {
      return document_.invalid(id, "multipleOf is no number above 0");
    }
    const auto decimal = decimal_of(*value);
    AutomatonOr set;
    if (decimal) set = multiples_of(*decimal);
    if (!set) {
      return document_.refused(
          id, fmt::format("multipleOf {}, of more than 10000 parts,", shown(*value)));
    }
    if (*name == '\1') set = grammar::difference(all_numbers(), *set);
    TOK_TRY(narrow(id, "multipleOf", own.numbers, std::move(set)));
  }
  if (document_.keyword(id, "\1fraction") != nullptr) {
    TOK_TRY(narrow(id, "type", own.numbers, grammar::difference(all_numbers(), whole_numbers())));
  }
  return {};
}

Result<void> Compiler::narrow_strings(SchemaId id, Scalars& own) {
  TOK_TRY(const auto least, count(id, "minLength"));
  TOK_TRY(const auto most, count(id, "maxLength"));
  if (least) own.min_length = std::max(own.min_length, uint32_t(*least));
  if (most) own.max_length = std::min(own.max_length, uint32_t(*most));
  for (const char* name : {"pattern", "\1notPattern"}) {
    const Json* value = document_.keyword(id, name);
    if (value == nullptr) continue;
    if (!value->is_string()) return document_.invalid(id, "pattern is no text");
    TOK_TRY(const Automaton set, pattern(id, value->as_string()));
    TOK_TRY(narrow(id, "pattern", own.strings,
                   *name == '\1' ? grammar::difference(Automaton::any(), set) : AutomatonOr(set)));
  }
  const Json* format = document_.keyword(id, "format");
  if (format == nullptr || !format->is_string()) return {};
  const Automaton* set = automaton_of_format(format->as_string());
  if (set == nullptr) return {};
  return narrow(id, "format", own.strings, *set);
}

/// enum, const, and values that are excluded.
Result<void> Compiler::narrow_to_values(SchemaId id, Scalars& own) {
  for (const char* name : {"enum", "const", "\1notIn"}) {
    const Json* given = document_.keyword(id, name);
    if (given == nullptr) continue;
    const bool excludes = *name == '\1';
    const Json::Array values =
        name == std::string_view("const") ? Json::Array{*given} : given->as_array();
    if (is_one_of(nullptr, values) == excludes) own.types &= ~kNullType;
    if (is_one_of(true, values) == excludes) own.has_true = false;
    if (is_one_of(false, values) == excludes) own.has_false = false;
    bool has_arrays = excludes, has_objects = excludes;
    Automaton numbers;
    std::vector<std::string_view> texts;
    for (const Json& value : values) {
      if (value.is_string()) texts.push_back(value.as_string());
      has_arrays = has_arrays || value.is_array();
      has_objects = has_objects || value.is_object();
      if (!value.is_number() || (own.types & kNumberType) == 0) continue;
      const auto decimal = decimal_of(value);
      if (!decimal)
        return document_.refused(id, fmt::format("{} ({})", name, decimal.error().message));
      const AutomatonOr more = grammar::united(numbers, equal_to(*decimal));
      if (!more) return document_.refused(id, "an enum whose numbers take more than 20000 states");
      numbers = *more;
    }
    if (!has_arrays) own.types &= ~kArrayType;
    if (!has_objects) own.types &= ~kObjectType;
    if (own.types & kNumberType) {
      if (!excludes || !numbers.is_empty()) {
        TOK_TRY(
            narrow(id, name, own.numbers,
                   excludes ? grammar::difference(all_numbers(), numbers) : AutomatonOr(numbers)));
      }
    }
    if ((own.types & kStringType) == 0 || (excludes && texts.empty())) continue;
    const Automaton set = Automaton::of(texts).reduced();
    TOK_TRY(narrow(id, name, own.strings,
                   excludes ? grammar::difference(Automaton::any(), set) : AutomatonOr(set)));
  }
  return {};
}

void Compiler::add_scalars(const Scalars& own, std::vector<uint32_t>& begins) {
  if (own.types & kNullType) begins.push_back(states_.text("null", end_));
  if (own.types & kBooleanType) {
    if (own.has_true) begins.push_back(states_.text("true", end_));
    if (own.has_false) begins.push_back(states_.text("false", end_));
  }
  if (own.types & kNumberType) {
    if (own.numbers) {
      begins.push_back(states_.automaton(*own.numbers, false, end_));
    } else {
      begins.push_back(states_.call(own.integers_only ? integer_ : number_, end_));
    }
  }
  if (own.types & kStringType) {
    begins.push_back(string_of(own.strings, own.min_length, own.max_length, end_));
  }
}

}  // namespace tokamak::schema
