#include "protocol/chat/chat_parts.h"

namespace tokamak::protocol {

Answer<std::string> text_member(const Json& object, std::string_view name, std::string_view field,
                                const std::string& where) {
  const Json* found = object.find(name);
  if (found == nullptr || !found->is_string()) {
    return wrong(field, "{}.{} is missing or no text.", where, name);
  }
  return found->as_string();
}

Json text_part(std::string_view text) {
  return Json(Json::Object{{"type", "text"}, {"text", text}});
}

Json message_json(std::string_view role, Json content) {
  return Json(Json::Object{{"role", role}, {"content", std::move(content)}});
}

Json call_json(std::string_view id, std::string_view name, Json arguments) {
  Json function(Json::Object{{"name", name}, {"arguments", std::move(arguments)}});
  return Json(Json::Object{{"id", id}, {"type", "function"}, {"function", std::move(function)}});
}

void add_call(Json::Array& messages, Json call) {
  const bool continues = !messages.empty() && *messages.back().find("role") == Json("assistant");
  if (!continues) messages.push_back(message_json("assistant", ""));
  if (Json* calls = messages.back().find("tool_calls")) {
    calls->as_array().push_back(std::move(call));
  } else {
    messages.back().set("tool_calls", Json::Array{std::move(call)});
  }
}

}  // namespace tokamak::protocol
