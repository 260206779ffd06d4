#include "text/template/role_tokens.h"

#include <map>
#include <string_view>

namespace tokamak {

const Json* token_text(const Json& token) {
  const Json* text = token.is_object() ? token.find("content") : &token;
  return text != nullptr && text->is_string() ? text : nullptr;
}

RoleTokens read_role_tokens(const Json& config) {
  if (!config.is_object()) return {};
  std::map<std::string_view, const Json*> found;  // of several members with one name the last
  for (const auto& [name, value] : config.as_object()) {
    if (name.ends_with("_token")) found[name] = token_text(value);
  }
  if (const Json* named = config.find("extra_special_tokens"); named && named->is_object()) {
    for (const auto& [name, value] : named->as_object()) found[name] = token_text(value);
  }
  RoleTokens roles;
  for (const auto& [name, text] : found) {
    if (text != nullptr) roles.emplace_back(name, text->as_string());
  }
  return roles;
}

}  // namespace tokamak
