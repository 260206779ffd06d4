// The bodies of Ollama's chat and generate: sampling in `options`, calls without ids.
#include "protocol/ollama/reader.h"

#include "protocol/chat/chat_parts.h"
#include "protocol/chat/image_parts.h"
#include "protocol/chat/schemas.h"

namespace tokamak::protocol {
namespace {

/// The images of a message, then its text. `where` names the list in errors, in `field`.
Answer<Json> with_images(const Json& images, std::string_view text, std::string_view field,
                         const std::string& where) {
  Json::Array parts;
  for (const Json& image : images.as_array()) {
    if (!image.is_string()) {
      return wrong(field, "{}[{}] is {}, expected an image in base64.", where, parts.size(),
                   quoted(image));
    }
    parts.push_back(image_part(data_url("image", image.as_string())));
  }
  parts.push_back(text_part(text));
  return parts;
}

bool has_some(const Json* list) {
  return list != nullptr && list->is_array() && !list->as_array().empty();
}

/// Calls and results belong together by their order alone: they get ids.
Answer<void> read_messages(Fields& fields) {
  uint64_t calls = 0, results = 0;
  Json::Array& messages = fields.messages.as_array();
  for (size_t i = 0; i < messages.size(); ++i) {
    Json& message = messages[i];
    if (!message.is_object()) continue;  // the chat's reader refuses it
    const Json* content = message.find("content");
    if (content == nullptr || content->is_null()) message.set("content", "");
    content = message.find("content");
    if (has_some(message.find("images")) && content->is_string()) {
      TOK_TRY(Json parts, with_images(*message.find("images"), content->as_string(), "messages",
                                      fmt::format("messages[{}].images", i)));
      message.set("content", std::move(parts));
    }
    const Json* role = message.find("role");
    if (role != nullptr && *role == Json("tool") && message.find("tool_call_id") == nullptr) {
      message.set("tool_call_id", fmt::format("call_{}", results++));
    }
    Json* made = message.find("tool_calls");
    if (made == nullptr || !made->is_array()) continue;
    for (Json& call : made->as_array()) {
      if (!call.is_object() || call.find("id") != nullptr) continue;
      call.set("id", fmt::format("call_{}", calls++)).set("type", "function");
    }
  }
  return {};
}

Answer<void> read_format(Fields& fields) {
  const Json& format = fields.format;
  if (format.is_null() || format == Json("") || is_empty_object(format)) return {};
  if (format.is_string() && format != Json("json")) {
    return wrong("format", "format is {}, expected json or a JSON Schema.", quoted(format));
  }
  if (format.is_string()) {
    fields.response_format = Json(Json::Object{{"type", "json_object"}});
  } else {
    Json schema(Json::Object{{"schema", format}});
    fields.response_format =
        Json(Json::Object{{"type", "json_schema"}, {"json_schema", std::move(schema)}});
  }
  return {};
}

}  // namespace

Answer<void> read_ollama(TextBody& body, Endpoint endpoint) {
  Fields& fields = body.fields;
  if (!fields.options.is_null()) {
    const Json options = fields.options;
    TOK_TRY(read_members(options, kOllamaOptions, fields));
  }
  if (fields.num_predict.value_or(0) > 0) fields.max_tokens = fields.num_predict;
  if (!fields.stream) fields.stream = true;
  TOK_TRY(read_format(fields));
  if (fields.think.is_bool()) fields.enable_thinking = fields.think.as_bool();
  if (fields.think.is_string()) fields.reasoning_effort = fields.think.as_string();
  if (endpoint == kOllamaChat) {
    body.only_loads = fields.messages.is_null() || fields.messages.as_array().empty();
    return body.only_loads ? Answer<void>() : read_messages(fields);
  }
  const std::string prompt = fields.prompt.is_string() ? fields.prompt.as_string() : "";
  body.only_loads = prompt.empty();
  body.is_chat = !fields.raw.value_or(false) && fields.suffix.value_or("").empty();
  const bool has_images = has_some(&fields.images);
  if (!body.is_chat) {
    if (has_images) {
      return wrong("images",
                   "images has some, but a raw prompt, or one with a suffix, has no place for "
                   "them: leave raw and suffix out.");
    }
    if (!fields.max_tokens) fields.max_tokens = kUnlimited;
    return {};
  }
  Json::Array messages;
  if (fields.system.is_string() && !fields.system.as_string().empty()) {
    messages.push_back(message_json("system", fields.system.as_string()));
  }
  if (has_images) {
    TOK_TRY(Json parts, with_images(fields.images, prompt, "images", "images"));
    messages.push_back(message_json("user", std::move(parts)));
  } else {
    messages.push_back(message_json("user", prompt));
  }
  fields.messages = std::move(messages);
  return {};
}

}  // namespace tokamak::protocol
