// The body of OpenAI's Responses: items in place of messages, functions without a wrapping.
#include "openai/image_parts.h"
#include "openai/readers.h"

namespace tokamak::openai {
namespace {

std::string type_of(const Json& item) {
  const Json* type = item.find("type");
  if (type != nullptr && type->is_string()) return type->as_string();
  return item.find("role") == nullptr ? "" : "message";
}

/// {"type": "input_image", "image_url": "data:...", "detail"} as a part of a chat.
Answer<std::optional<Json>> image_of(const Json& part, const std::string& where) {
  const Json* type = part.find("type");
  if (type == nullptr || *type != Json("input_image")) return std::nullopt;
  const Json* url = part.find("image_url");
  if (url == nullptr || !url->is_string()) {
    return wrong("input", "{}.image_url is missing or no text; files are not stored here.", where);
  }
  Json made = image_part(url->as_string());
  if (const Json* detail = part.find("detail")) made.find("image_url")->set("detail", *detail);
  return made;
}

Answer<void> add_item(const Json& item, const std::string& where, Json::Array& messages) {
  const std::string type = type_of(item);
  if (type == "message") {
    TOK_TRY(const std::string role, text_member(item, "role", "input", where));
    const Json* content = item.find("content");
    if (content == nullptr) return wrong("input", "{}.content is missing.", where);
    TOK_TRY(Json own, parts_content(*content, "input", where + ".content",
                                    {"input_text", "output_text", "text"}, image_of));
    messages.push_back(message_json(role, std::move(own)));
  } else if (type == "function_call") {
    TOK_TRY(const std::string id, text_member(item, "call_id", "input", where));
    TOK_TRY(const std::string name, text_member(item, "name", "input", where));
    TOK_TRY(std::string arguments, text_member(item, "arguments", "input", where));
    add_call(messages, call_json(id, name, std::move(arguments)));
  } else if (type == "function_call_output") {
    TOK_TRY(const std::string id, text_member(item, "call_id", "input", where));
    const Json* output = item.find("output");
    if (output == nullptr) return wrong("input", "{}.output is missing.", where);
    TOK_TRY(std::string text,
            parts_text(*output, "input", where + ".output", {"input_text", "text"}));
    messages.push_back(message_json("tool", std::move(text)));
    messages.back().set("tool_call_id", id);
  } else if (type != "reasoning") {
    return wrong("input", "{} is {}, expected the type \"message\", \"function_call\", {}.", where,
                 quoted(item), "\"function_call_output\" or \"reasoning\"");
  }
  return {};
}

Answer<void> read_tools(Fields& fields) {
  if (!fields.tools.is_array()) return {};
  Json::Array tools;
  for (const Json& tool : fields.tools.as_array()) {
    if (!tool.is_object() || type_of(tool) != "function") {
      return wrong("tools", "tools[{}] is {}, expected the type \"function\".", tools.size(),
                   quoted(tool));
    }
    tools.push_back(tool_json(tool, "parameters"));
  }
  fields.tools = std::move(tools);
  return {};
}

}  // namespace

Answer<void> read_responses(Fields& fields) {
  if (fields.previous_response_id) {
    return wrong("previous_response_id",
                 "previous_response_id is {}, but nothing is stored here: send the whole "
                 "conversation as input.",
                 quoted(*fields.previous_response_id));
  }
  if (fields.input.is_null()) return wrong("input", "input is missing.");
  Json::Array messages;
  if (fields.instructions) messages.push_back(message_json("system", *fields.instructions));
  if (fields.input.is_string()) {
    messages.push_back(message_json("user", fields.input.as_string()));
  } else {
    const Json::Array& items = fields.input.as_array();
    for (size_t i = 0; i < items.size(); ++i) {
      TOK_TRY(add_item(items[i], fmt::format("input[{}]", i), messages));
    }
  }
  fields.messages = std::move(messages);
  TOK_TRY(read_tools(fields));
  if (fields.tool_choice.is_object()) {
    const Json* name = fields.tool_choice.find("name");
    Json function;
    function.set("name", name == nullptr ? Json() : *name);
    fields.tool_choice =
        Json(Json::Object{{"type", "function"}, {"function", std::move(function)}});
  }
  if (const Json* format = fields.text.find("format")) fields.response_format = *format;
  return {};
}

}  // namespace tokamak::openai
