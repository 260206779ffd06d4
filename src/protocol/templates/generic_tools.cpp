// Tools for models whose chat template knows none: described in words, in the form of the first
// family.
#include <algorithm>

#include "protocol/chat/chat_parts.h"
#include "protocol/chat/content_parts.h"
#include "protocol/chat/messages.h"
#include "protocol/templates/call_ids.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {
namespace {

std::string instruction(const Json& tools) {
  std::string out = "You have these functions, described by JSON Schema:\n";
  for (const Json& tool : tools.as_array()) {
    const Json* function = tool.find("function");
    out += (function == nullptr ? tool : *function).dump() + "\n";
  }
  return out +
         "To call one, write\n<tool_call>\n{\"name\": \"its name\", \"arguments\": {...}}\n"
         "</tool_call>\nonce for each call, and nothing after it. The results come in the next "
         "message, between <tool_response> and </tool_response>. Call a function only where it "
         "helps.";
}

/// The calls of an assistant's message as its model writes them.
std::string with_calls(const Json& message) {
  std::string out = text_of_content(*message.find("content"));
  for (const Json& call : message.find("tool_calls")->as_array()) {
    Json text;
    text.set("name", *call.find("function")->find("name"));
    const Json* arguments = call.find("function")->find("arguments");
    text.set("arguments", arguments == nullptr ? Json(Json::Object{}) : *arguments);
    out +=
        (out.empty() ? "" : "\n") + std::string("<tool_call>\n") + text.dump() + "\n</tool_call>";
  }
  return out;
}

/// The result of a tool between its marks, images among it.
Json with_marks(const Json& content) {
  return joined_contents(joined_contents("<tool_response>", content, "\n"), "</tool_response>",
                         "\n");
}

Json with_generic_tools(const Json& variables) {
  Json::Array out;
  if (const Json* tools = variables.find("tools")) {
    out.push_back(message_json("system", instruction(*tools)));
  }
  bool follows_result = false;
  for (const Json& message : variables.find("messages")->as_array()) {
    const std::string& role = message.find("role")->as_string();
    if (role == "tool") {
      Json result = with_marks(*message.find("content"));
      if (follows_result) {
        Json& before = *out.back().find("content");
        before = joined_contents(before, result, "\n");
      } else {
        out.push_back(message_json("user", std::move(result)));
      }
    } else if (message.find("tool_calls") != nullptr) {
      out.push_back(message_json(role, with_calls(message)));
      const Json* thought = message.find("reasoning_content");
      if (thought != nullptr) out.back().set("reasoning_content", *thought);
    } else {
      out.push_back(message);
    }
    follows_result = role == "tool";
  }
  Json made(Json::Object{});
  for (const auto& [name, value] : variables.as_object()) {
    if (name != "tools" && name != "messages") made.set(name, value);
  }
  made.set("messages", std::move(out));
  return made;
}

bool has_tools(const Json& variables) {
  if (variables.find("tools") != nullptr) return true;
  return std::ranges::any_of(variables.find("messages")->as_array(), [](const Json& message) {
    return message.find("tool_calls") != nullptr || *message.find("role") == Json("tool");
  });
}

}  // namespace

std::string_view prompt_end(const Fields& fields) {
  // In the area of Unicode for private use: no client has it at the end of a message.
  return fields.continue_final_message.value_or(false) ? "\uE0C7\uE0C8" : "";
}

Answer<Json> chat_prompt_variables(const Fields& fields, const ChatForm& form) {
  TOK_TRY(Json variables, chat_variables(fields));
  set_thinking(fields, form.efforts, variables);
  fit_call_ids(*form.tools, variables);
  if (form.is_generic && has_tools(variables)) variables = with_generic_tools(variables);
  Json::Array& messages = variables.find("messages")->as_array();
  fit_turns(messages, form.turns);
  if (const std::string_view end = prompt_end(fields); !end.empty()) {
    Json& content = *messages.back().find("content");
    content = content.as_string() + std::string(end);
    *variables.find("add_generation_prompt") = false;
  }
  return variables;
}

}  // namespace tokamak::protocol
