#include "protocol/output/argument_values.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "protocol/output/literals.h"

namespace tokamak::protocol {
namespace {

/// The name of a value's type in JSON Schema.
std::string_view type_name(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return "boolean";
    case Json::Kind::kInteger:
    case Json::Kind::kBigInteger:
      return "integer";
    case Json::Kind::kNumber:
      return "number";
    case Json::Kind::kString:
      return "string";
    case Json::Kind::kArray:
      return "array";
    case Json::Kind::kObject:
      return "object";
  }
  return {};
}

/// The value of a schema's `type`, or of each one in a list of them.
void add_types(const Json& schema, std::vector<std::string>& out) {
  const Json* type = schema.find("type");
  if (type != nullptr && type->is_string()) out.push_back(type->as_string());
  if (type != nullptr && type->is_array()) {
    for (const Json& one : type->as_array()) {
      if (one.is_string()) out.push_back(one.as_string());
    }
  }
  const Json* values = schema.find("enum");
  if (type == nullptr && values != nullptr && values->is_array()) {
    for (const Json& one : values->as_array()) out.emplace_back(type_name(one));
  }
  for (const char* name : {"anyOf", "oneOf"}) {
    const Json* all = schema.find(name);
    if (all == nullptr || !all->is_array()) continue;
    for (const Json& one : all->as_array()) add_types(one, out);
  }
}

/// The types that a parameter may have; empty where its schema names none.
std::vector<std::string> types_of(const Json* parameters, std::string_view name) {
  std::vector<std::string> out;
  const Json* properties = parameters == nullptr ? nullptr : parameters->find("properties");
  const Json* property = properties == nullptr ? nullptr : properties->find(name);
  if (property != nullptr) add_types(*property, out);
  return out;
}

/// A value of JSON, or one of Python's, as templates write that turn values into texts.
std::optional<Json> read_value(std::string_view text) {
  if (auto parsed = Json::parse(text)) return *std::move(parsed);
  LiteralReader reader(text);
  auto value = reader.value();
  return value && reader.rest().empty() ? std::move(value) : std::nullopt;
}

}  // namespace

const Json* function_named(const Json& tools, std::string_view name) {
  if (!tools.is_array()) return nullptr;
  for (const Json& tool : tools.as_array()) {
    const Json* about = tool.find("function");
    const Json* own = about == nullptr ? nullptr : about->find("name");
    if (own != nullptr && *own == Json(name)) return about;
  }
  return nullptr;
}

const Json* parameters_of(const Json& tools, std::string_view function) {
  const Json* about = function_named(tools, function);
  return about == nullptr ? nullptr : about->find("parameters");
}

void set_argument(const Json* parameters, std::string_view key, std::string_view text, Json& out) {
  const std::vector<std::string> types = types_of(parameters, key);
  const auto has = [&](std::string_view type) {
    return std::ranges::find(types, type) != types.end();
  };
  std::optional<Json> value;
  if (types.empty()) {
    if (auto parsed = Json::parse(text)) value = *std::move(parsed);
  } else if (!has("string")) {
    value = read_value(text);
  } else if (types.size() > 1) {
    value = read_value(text);
    const std::string_view type = value ? type_name(*value) : "";
    if (!has(type) && !(type == "integer" && has("number"))) value.reset();
  }
  out.set(std::string(key), value ? *std::move(value) : Json(text));
}

}  // namespace tokamak::protocol
