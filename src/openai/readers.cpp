#include "openai/readers.h"

#include <algorithm>

namespace tokamak::openai {

Answer<std::string> text_member(const Json& object, std::string_view name, std::string_view field,
                                const std::string& where) {
  const Json* found = object.find(name);
  if (found == nullptr || !found->is_string()) {
    return wrong(field, "{}.{} is missing or no text.", where, name);
  }
  return found->as_string();
}

Answer<Json> parts_content(const Json& content, std::string_view field, const std::string& where,
                           std::initializer_list<std::string_view> types, const ReadImage& image) {
  if (content.is_string()) return content;
  if (!content.is_array()) {
    return wrong(field, "{} is {}, expected a text or a list of parts.", where,
                 kind_name(content.kind()));
  }
  std::string all;
  Json::Array parts;
  bool has_image = false;
  for (size_t i = 0; i < content.as_array().size(); ++i) {
    const Json& part = content.as_array()[i];
    const std::string place = fmt::format("{}[{}]", where, i);
    TOK_TRY(std::optional<Json> own, image(part, place));
    if (own) {
      has_image = true;
      parts.push_back(*std::move(own));
      continue;
    }
    const Json* type = part.find("type");
    const bool is_known = type != nullptr && type->is_string() &&
                          std::ranges::find(types, type->as_string()) != types.end();
    if (!is_known) {
      return wrong(field, "{} is {}, expected a part of the type \"{}\".", place, quoted(part),
                   *types.begin());
    }
    TOK_TRY(const std::string text, text_member(part, "text", field, place));
    all += (i == 0 ? "" : "\n") + text;
    parts.push_back(text_part(text));
  }
  if (has_image) return Json(std::move(parts));
  return Json(std::move(all));
}

Answer<std::string> parts_text(const Json& content, std::string_view field,
                               const std::string& where,
                               std::initializer_list<std::string_view> types) {
  const auto none = [](const Json&, const std::string&) -> Answer<std::optional<Json>> {
    return std::nullopt;
  };
  TOK_TRY(const Json text, parts_content(content, field, where, types, none));
  return text.as_string();
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

Json tool_json(const Json& tool, std::string_view parameters) {
  Json function(Json::Object{});
  for (const auto& [name, value] : tool.as_object()) {
    if (name == parameters) {
      function.set("parameters", value);
    } else if (name == "name" || name == "description" || name == "strict") {
      function.set(name, value);
    }
  }
  return Json(Json::Object{{"type", "function"}, {"function", std::move(function)}});
}

void add_call(Json::Array& messages, Json call) {
  const bool goes_on = !messages.empty() && *messages.back().find("role") == Json("assistant");
  if (!goes_on) messages.push_back(message_json("assistant", ""));
  if (Json* calls = messages.back().find("tool_calls")) {
    calls->as_array().push_back(std::move(call));
  } else {
    messages.back().set("tool_calls", Json::Array{std::move(call)});
  }
}

Answer<TextBody> read_text_body(std::string_view body, Endpoint endpoint) {
  TextBody out;
  TOK_TRY(out.fields, read_fields(body, endpoint));
  out.is_chat = endpoint != kCompletions;
  switch (endpoint) {
    case kResponses:
      TOK_TRY(read_responses(out.fields));
      break;
    case kMessages:
    case kCountTokens:
      TOK_TRY(read_anthropic(out.fields, endpoint == kMessages));
      break;
    case kOllamaChat:
    case kOllamaGenerate:
      TOK_TRY(read_ollama(out, endpoint));
      break;
    default:
      break;
  }
  return out;
}

}  // namespace tokamak::openai
