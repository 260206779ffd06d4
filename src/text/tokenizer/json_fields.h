// Typed members of a JSON object, with errors that name the member, what it is and what it should
// be.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace tokamak {

/// The member `name`, which must be there and of `kind`.
inline Result<const Json*> require_field(const Json& object, std::string_view name,
                                         Json::Kind kind) {
  if (!object.is_object()) {
    return invalid_input("The value is {}; an object with \"{}\" is expected.",
                         kind_name(object.kind()), name);
  }
  const Json* field = object.find(name);
  if (field == nullptr) return invalid_input("The member \"{}\" is missing.", name);
  if (field->kind() != kind) {
    return invalid_input("\"{}\" is {}; {} is expected.", name, kind_name(field->kind()),
                         kind_name(kind));
  }
  return field;
}

inline Result<std::string> string_field(const Json& object, std::string_view name) {
  TOK_TRY(const Json* field, require_field(object, name, Json::Kind::kString));
  return field->as_string();
}

/// A string, or nothing when it is absent or null.
inline Result<std::optional<std::string>> optional_string_field(const Json& object,
                                                                std::string_view name) {
  const Json* field = object.find(name);
  if (field == nullptr || field->is_null()) return std::nullopt;
  TOK_TRY(std::string text, string_field(object, name));
  return text;
}

/// `fallback` when it is absent or null.
inline Result<bool> bool_field(const Json& object, std::string_view name, bool fallback) {
  const Json* field = object.find(name);
  if (field == nullptr || field->is_null()) return fallback;
  TOK_TRY(field, require_field(object, name, Json::Kind::kBool));
  return field->as_bool();
}

/// `fallback` when it is absent or null; otherwise an integer of [0, 2^32 - 2].
inline Result<uint32_t> u32_field(const Json& object, std::string_view name,
                                  std::optional<uint32_t> fallback = std::nullopt) {
  const Json* field = object.find(name);
  if (fallback && (field == nullptr || field->is_null())) return *fallback;
  TOK_TRY(field, require_field(object, name, Json::Kind::kInteger));
  if (field->as_integer() < 0 || field->as_integer() >= int64_t{UINT32_MAX}) {
    return invalid_input("\"{}\" is {}; a number from 0 to {} is expected.", name,
                         field->as_integer(), UINT32_MAX - 1);
  }
  return uint32_t(field->as_integer());
}

}  // namespace tokamak
