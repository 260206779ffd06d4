#include "protocol/chat/schemas.h"

#include <algorithm>
#include <span>

namespace tokamak::protocol {
namespace {

constexpr std::string_view kTypes[] = {"null",   "boolean", "object", "array",
                                       "number", "string",  "integer"};
constexpr std::string_view kByName[] = {"properties", "patternProperties", "$defs", "definitions",
                                        "dependentSchemas"};
constexpr std::string_view kOne[] = {"additionalProperties",
                                     "unevaluatedProperties",
                                     "propertyNames",
                                     "items",
                                     "additionalItems",
                                     "contains",
                                     "not",
                                     "if",
                                     "then",
                                     "else"};
constexpr std::string_view kLists[] = {"allOf", "anyOf", "oneOf", "prefixItems", "items"};

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

Refusal wrong_schema(const std::string& where, const Json& found, std::string_view expected) {
  return wrong("tools", "{} is {}, expected {}.", where, quoted(found), expected);
}

Answer<void> check_type(const Json& type, const std::string& where) {
  const auto is_type = [](const Json& one) {
    return one.is_string() && is_among(one.as_string(), kTypes);
  };
  const bool is_right =
      type.is_array() ? std::ranges::all_of(type.as_array(), is_type) : is_type(type);
  if (is_right) return {};
  return wrong_schema(where, type,
                      "\"null\", \"boolean\", \"object\", \"array\", \"number\", \"string\", "
                      "\"integer\" or a list of those");
}

Answer<void> check_required(const Json& required, const std::string& where) {
  const bool is_right =
      required.is_array() &&
      std::ranges::all_of(required.as_array(), [](const Json& one) { return one.is_string(); });
  if (is_right) return {};
  return wrong_schema(where, required, "a list of names");
}

Answer<void> read_schema(Json& schema, const std::string& where);

Answer<void> read_schemas(Json& schemas, const std::string& where) {
  if (is_empty_object(schemas)) schemas = Json(Json::Object{});
  if (!schemas.is_object()) return wrong_schema(where, schemas, "an object of schemas");
  for (auto& [name, schema] : schemas.as_object()) {
    TOK_TRY(read_schema(schema, where + "." + name));
  }
  return {};
}

Answer<void> read_member(std::string_view name, Json& value, const std::string& where) {
  if (name == "type") return check_type(value, where);
  if (name == "required") return check_required(value, where);
  if (name == "enum" && !value.is_array()) return wrong_schema(where, value, "a list of values");
  if (is_among(name, kByName)) return read_schemas(value, where);
  if (value.is_array() && !value.as_array().empty() && is_among(name, kLists)) {
    for (size_t i = 0; i < value.as_array().size(); ++i) {
      TOK_TRY(read_schema(value.as_array()[i], fmt::format("{}[{}]", where, i)));
    }
    return {};
  }
  return is_among(name, kOne) ? read_schema(value, where) : Answer<void>();
}

Answer<void> read_schema(Json& schema, const std::string& where) {
  if (schema.is_bool()) return {};
  if (is_empty_object(schema)) schema = Json(Json::Object{});
  if (!schema.is_object()) return wrong_schema(where, schema, "a JSON Schema");
  // Serializers write null for a keyword that is not set.
  std::erase_if(schema.as_object(), [](const Json::Member& member) {
    return member.second.is_null() && member.first != "const" && member.first != "default";
  });
  for (auto& [name, value] : schema.as_object()) {
    TOK_TRY(read_member(name, value, where + "." + name));
  }
  return {};
}

}  // namespace

bool is_empty_object(const Json& value) {
  if (value.is_object()) return value.as_object().empty();
  return value.is_array() && value.as_array().empty();
}

Json filled_schema(const Json& given) {
  Json schema = given;
  return read_schema(schema, "") ? schema : given;
}

Answer<Json> parameters_schema(const Json& given, const std::string& where) {
  if (is_empty_object(given)) {
    return Json(Json::Object{{"type", "object"}, {"properties", Json(Json::Object{})}});
  }
  if (!given.is_object()) {
    return wrong("tools", "{} is {}, expected a JSON Schema.", where, kind_name(given.kind()));
  }
  Json schema = given;
  TOK_TRY(read_schema(schema, where));
  const Json* type = schema.find("type");
  if (type != nullptr && type->is_string() && *type != Json("object")) {
    return wrong_schema(where + ".type", *type, "\"object\": arguments are one");
  }
  return schema;
}

}  // namespace tokamak::protocol
