#include "protocol/chat/messages.h"

#include <algorithm>

#include "base/ascii.h"
#include "protocol/chat/chat_parts.h"
#include "protocol/chat/content_parts.h"
#include "protocol/chat/image_parts.h"
#include "protocol/chat/schemas.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kField = "messages";
constexpr std::string_view kRoles[] = {"system",    "developer", "user",
                                       "assistant", "tool",      "function"};

const Json* present(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// An object, where the arguments are one in any spelling: "" and [] are none at all.
Json arguments_of(const Json* given) {
  if (given == nullptr || given->is_null() || is_empty_object(*given)) return Json::Object{};
  if (!given->is_string()) return *given;
  const std::string_view text = trimmed(given->as_string());
  if (text.empty()) return Json::Object{};
  auto parsed = Json::parse(text);
  if (!parsed) return *given;  // cut amid a call, perhaps
  if (parsed->is_null() || is_empty_object(*parsed)) return Json::Object{};
  return parsed->is_object() ? *std::move(parsed) : *given;
}

/// A custom tool's call, whose input is a text, as one of a function of that text.
void unwrap_custom(Json& call) {
  const Json* custom = call.find("custom");
  if (custom == nullptr || call.find("function") != nullptr) return;
  const std::string* input = text_in(*custom, "input");
  const std::string* name = text_in(*custom, "name");
  const std::string* id = text_in(call, "id");
  call = call_json(id == nullptr ? "" : *id, name == nullptr ? "" : *name,
                   Json(Json::Object{{"input", input == nullptr ? "" : *input}}));
}

/// The calls of an assistant's message, their arguments as templates read them.
Answer<Json::Array> calls_of(const Json& calls, const std::string& where) {
  if (!calls.is_array()) {
    return wrong(kField, "{} is {}, expected a list.", where, kind_name(calls.kind()));
  }
  Json::Array out;
  for (size_t i = 0; i < calls.as_array().size(); ++i) {
    Json call = calls.as_array()[i];
    unwrap_custom(call);
    Json* function = call.find("function");
    if (function == nullptr || text_in(*function, "name") == nullptr) {
      return wrong(kField, "{}[{}].function.name is missing or no text.", where, i);
    }
    Json arguments = arguments_of(function->find("arguments"));
    if (Json* old = function->find("arguments")) {
      *old = std::move(arguments);
    } else {
      function->set("arguments", std::move(arguments));
    }
    out.push_back(std::move(call));
  }
  return out;
}

/// The one call of a message from before there were tools, and of its result, by its name.
std::string id_of_function(std::string_view name) {
  return fmt::format("call_{}", name);
}

/// All calls of the message: `tool_calls`, or the `function_call` that there was before.
Answer<Json::Array> calls_in(const Json& message, const std::string& where) {
  if (const Json* calls = present(message, "tool_calls")) {
    return calls_of(*calls, where + ".tool_calls");
  }
  const Json* function = present(message, "function_call");
  if (function == nullptr) return {};
  const std::string* name = text_in(*function, "name");
  if (name == nullptr) {
    return wrong(kField, "{}.function_call.name is missing or no text.", where);
  }
  const Json* arguments = function->find("arguments");
  const Json call = call_json(id_of_function(*name), *name, arguments_of(arguments));
  return Json::Array{call};
}

Answer<std::string> role_of(const Json& message, const std::string& where) {
  if (!message.is_object()) {
    return wrong(kField, "{} is {}, expected an object.", where, kind_name(message.kind()));
  }
  const std::string* role = text_in(message, "role");
  if (role == nullptr || std::ranges::find(kRoles, *role) == std::end(kRoles)) {
    const Json* found = message.find("role");
    return wrong(kField,
                 "{}.role is {}, expected \"system\", \"developer\", \"user\", \"assistant\" or "
                 "\"tool\".",
                 where, found == nullptr ? "missing" : quoted(*found));
  }
  if (*role == "developer") return "system";
  return *role == "function" ? "tool" : *role;
}

/// Its text or parts. Those of an assistant, who may have refused or only thought and called, and
/// of a tool, which may have nothing to say, may be missing. `reasoning` takes what is thought.
Answer<Json> content_in(const Json& message, const std::string& role, const std::string& where,
                        std::string& reasoning) {
  const Json* content = present(message, "content");
  const bool is_assistant = role == "assistant";
  if (content == nullptr && !is_assistant && role != "tool") {
    return wrong(kField, "{}.content is missing.", where);
  }
  Json own = "";
  if (content != nullptr) {
    TOK_TRY(own, chat_content(*content, kField, where + ".content",
                              is_assistant ? &reasoning : nullptr));
  }
  if (own.is_array() && role != "user" && role != "tool") {
    return wrong(kField,
                 "{}.content has an image, which only messages of the user and results of tools "
                 "have.",
                 where);
  }
  const std::string* refusal = text_in(message, "refusal");
  if (is_assistant && own == Json("") && refusal != nullptr) own = *refusal;
  return own;
}

Answer<Json> message_of(const Json& message, const std::string& where) {
  TOK_TRY(const std::string role, role_of(message, where));
  Json out;
  out.set("role", role);
  std::string reasoning;
  TOK_TRY(Json content, content_in(message, role, where, reasoning));
  out.set("content", std::move(content));
  if (role == "assistant") {
    TOK_TRY(Json::Array calls, calls_in(message, where));
    if (!calls.empty()) out.set("tool_calls", std::move(calls));
  }
  for (const std::string_view name : {"tool_call_id", "name", "reasoning_content"}) {
    const Json* more = present(message, name);
    if (more == nullptr) continue;
    if (!more->is_string()) {
      return wrong(kField, "{}.{} is {}, expected a text.", where, name, kind_name(more->kind()));
    }
    if (name != "reasoning_content") out.set(std::string(name), *more);
  }
  if (role == "tool" && out.find("name") == nullptr) {
    if (const std::string* name = text_in(message, "tool_name")) out.set("name", *name);
  }
  const std::string* name = text_in(message, "name");
  if (message.find("role")->as_string() == "function" && name != nullptr) {
    out.set("tool_call_id", id_of_function(*name));
  }
  if (role == "tool" && out.find("tool_call_id") == nullptr) {
    return wrong(kField, "{}.tool_call_id is missing or no text.", where);
  }
  // The same under the names that it has with OpenRouter and with Ollama.
  for (const char* spelling : {"reasoning_content", "reasoning", "thinking"}) {
    const std::string* text = text_in(message, spelling);
    if (role == "assistant" && text != nullptr && reasoning.empty()) reasoning = *text;
  }
  if (!reasoning.empty()) out.set("reasoning_content", reasoning);
  return out;
}

/// The message in the form of templates: an image is a word, whose place its bytes take later.
Json for_template(const Json& message) {
  if (!message.find("content")->is_array()) return message;
  Json out;
  for (const auto& [name, value] : message.as_object()) {
    if (name != "content") {
      out.set(name, value);
      continue;
    }
    Json::Array parts;
    for (const Json& part : value.as_array()) {
      parts.push_back(is_image_part(part) ? Json(Json::Object{{"type", "image"}}) : part);
    }
    out.set(name, std::move(parts));
  }
  return out;
}

}  // namespace

Answer<ToolChoice> tool_choice_of(const Fields& fields) {
  const Json& choice = fields.tool_choice;
  const bool has_tools = fields.tools.is_array() && !fields.tools.as_array().empty();
  ToolChoice out = {.shows = has_tools};
  const std::string* word = choice.is_string() ? &choice.as_string() : nullptr;
  if (choice.is_null() || (word != nullptr && *word == "auto")) return out;
  if (word != nullptr && *word == "none") return ToolChoice{};
  const Json* function = choice.find("function");
  const std::string* name = function == nullptr ? nullptr : text_in(*function, "name");
  if (word != nullptr ? *word != "required" : name == nullptr) {
    return wrong("tool_choice", "tool_choice is {}, expected {}.", quoted(choice),
                 "\"auto\", \"none\", \"required\" or a function");
  }
  if (!has_tools) {
    return wrong("tool_choice", "tool_choice is {}, but there are no tools.", quoted(choice));
  }
  const Json::Array& tools = fields.tools.as_array();
  for (size_t i = 0; i < tools.size(); ++i) {
    const std::string* own = text_in(*tools[i].find("function"), "name");
    if (name == nullptr || *own == *name) out.called.push_back(i);
  }
  if (out.called.empty()) {
    return wrong("tool_choice", "tool_choice is {}, which none of the tools is called.",
                 quoted(*name));
  }
  return out;
}

Answer<void> read_chat(Fields& fields) {
  if (fields.messages.is_null()) return wrong(kField, "messages is missing.");
  Json::Array& messages = fields.messages.as_array();
  if (messages.empty()) return wrong(kField, "messages is empty, expected at least one.");
  for (size_t i = 0; i < messages.size(); ++i) {
    TOK_TRY(messages[i], message_of(messages[i], fmt::format("messages[{}]", i)));
  }
  return {};
}

Answer<Json> chat_variables(const Fields& fields) {
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  Json::Array messages;
  for (const Json& message : fields.messages.as_array()) messages.push_back(for_template(message));
  Json variables;
  variables.set("messages", std::move(messages));
  if (choice.shows) variables.set("tools", fields.tools);
  variables.set("add_generation_prompt", fields.add_generation_prompt.value_or(true));
  if (fields.chat_template_kwargs.is_null()) return variables;
  for (const auto& [name, value] : fields.chat_template_kwargs.as_object()) {
    if (name == "messages" || name == "tools") {
      return wrong("chat_template_kwargs", "chat_template_kwargs has {}, which is a field.", name);
    }
    variables.set(name, value);
  }
  return variables;
}

}  // namespace tokamak::protocol
