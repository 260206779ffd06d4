#include "openai/messages.h"

#include <algorithm>
#include <array>

#include "openai/image_parts.h"
#include "openai/readers.h"

namespace tokamak::openai {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"system", "developer", "user", "assistant",
                                                    "tool"};
constexpr size_t kMaxTools = 128, kMaxToolName = 64;

const std::string* text_of(const Json* value) {
  return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
}

const Json* present(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// A text, or parts of it: each on a line of its own. With images the parts, as templates read
/// them.
Answer<Json> content_of(const Json& content, const std::string& where, bool takes_images) {
  if (content.is_string()) return content;
  if (!content.is_array()) {
    return wrong("messages", "{} is {}, expected a text or a list of parts.", where,
                 kind_name(content.kind()));
  }
  std::string all;
  Json::Array parts;
  for (size_t i = 0; i < content.as_array().size(); ++i) {
    const Json& part = content.as_array()[i];
    if (is_image_part(part)) {
      if (!takes_images) {
        return wrong("messages", "{}[{}] is an image, which only messages of the user have.", where,
                     i);
      }
      parts.push_back(Json(Json::Object{{"type", "image"}}));
      continue;
    }
    const std::string* type = text_of(part.find("type"));
    const std::string* text = text_of(part.find("text"));
    if (type == nullptr || *type != "text") {
      return wrong("messages", "{}[{}] is {}, expected a part of the type \"text\"{}.", where, i,
                   quoted(part), takes_images ? " or \"image_url\"" : "");
    }
    if (text == nullptr) {
      return wrong("messages", "{}[{}].text is missing or no text.", where, i);
    }
    parts.push_back(text_part(*text));
    all += (i == 0 ? "" : "\n") + *text;
  }
  const auto is_image = [](const Json& part) { return part.find("text") == nullptr; };
  if (std::ranges::any_of(parts, is_image)) return Json(std::move(parts));
  return Json(std::move(all));
}

/// The calls of an assistant's message, their arguments as templates read them.
Answer<Json> calls_of(const Json& calls, const std::string& where) {
  if (!calls.is_array()) {
    return wrong("messages", "{} is {}, expected a list.", where, kind_name(calls.kind()));
  }
  Json::Array out;
  for (size_t i = 0; i < calls.as_array().size(); ++i) {
    Json call = calls.as_array()[i];
    Json* function = call.find("function");
    if (function == nullptr || text_of(function->find("name")) == nullptr) {
      return wrong("messages", "{}[{}].function.name is missing or no text.", where, i);
    }
    Json* arguments = function->find("arguments");
    if (arguments != nullptr && arguments->is_string()) {
      auto parsed = Json::parse(arguments->as_string());
      if (parsed && parsed->is_object()) *arguments = *std::move(parsed);
    }
    out.push_back(std::move(call));
  }
  return Json(std::move(out));
}

Answer<Json> message_of(const Json& message, const std::string& where) {
  if (!message.is_object()) {
    return wrong("messages", "{} is {}, expected an object.", where, kind_name(message.kind()));
  }
  const std::string* role = text_of(message.find("role"));
  if (role == nullptr || std::ranges::find(kRoles, *role) == kRoles.end()) {
    const Json* found = message.find("role");
    return wrong("messages",
                 "{}.role is {}, expected \"system\", \"developer\", \"user\", \"assistant\" or "
                 "\"tool\".",
                 where, found == nullptr ? "missing" : quoted(*found));
  }
  Json out;
  out.set("role", *role == "developer" ? std::string("system") : *role);
  const Json* content = present(message, "content");
  const Json* calls = *role == "assistant" ? present(message, "tool_calls") : nullptr;
  if (content != nullptr) {
    TOK_TRY(Json own, content_of(*content, where + ".content", *role == "user"));
    out.set("content", std::move(own));
  } else if (calls != nullptr) {
    out.set("content", "");
  } else {
    return wrong("messages", "{}.content is missing.", where);
  }
  if (calls != nullptr) {
    TOK_TRY(Json checked, calls_of(*calls, where + ".tool_calls"));
    out.set("tool_calls", std::move(checked));
  }
  if (*role == "tool" && text_of(message.find("tool_call_id")) == nullptr) {
    return wrong("messages", "{}.tool_call_id is missing or no text.", where);
  }
  for (const std::string_view name : {"tool_call_id", "name", "reasoning_content"}) {
    const Json* more = present(message, name);
    if (more == nullptr) continue;
    if (!more->is_string()) {
      return wrong("messages", "{}.{} is {}, expected a text.", where, name,
                   kind_name(more->kind()));
    }
    out.set(std::string(name), *more);
  }
  return out;
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxToolName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

Answer<void> check_tools(const Json& tools) {
  const Json::Array& all = tools.as_array();
  if (all.size() > kMaxTools) {
    return wrong("tools", "tools has {} entries, expected at most {}.", all.size(), kMaxTools);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string* type = text_of(all[i].find("type"));
    const Json* function = all[i].find("function");
    if (type == nullptr || *type != "function" || function == nullptr) {
      return wrong("tools",
                   "tools[{}] is {}, expected {{\"type\": \"function\", \"function\": ...}}.", i,
                   quoted(all[i]));
    }
    const std::string* name = text_of(function->find("name"));
    if (name == nullptr || !is_tool_name(*name)) {
      return wrong("tools",
                   "tools[{}].function.name is missing or not 1 to 64 letters, digits, '_', '.' "
                   "and '-'.",
                   i);
    }
    const Json* parameters = present(*function, "parameters");
    if (parameters != nullptr && !parameters->is_object()) {
      return wrong("tools", "tools[{}].function.parameters is {}, expected a JSON Schema.", i,
                   kind_name(parameters->kind()));
    }
  }
  return {};
}

}  // namespace

Answer<ToolChoice> tool_choice_of(const Fields& fields) {
  const Json& choice = fields.tool_choice;
  const bool has_tools = fields.tools.is_array() && !fields.tools.as_array().empty();
  ToolChoice out = {.shows = has_tools};
  const std::string* word = text_of(&choice);
  if (choice.is_null() || (word != nullptr && *word == "auto")) return out;
  if (word != nullptr && *word == "none") return ToolChoice{};
  const Json* function = choice.find("function");
  const std::string* name = function == nullptr ? nullptr : text_of(function->find("name"));
  if (word != nullptr ? *word != "required" : name == nullptr) {
    return wrong("tool_choice", "tool_choice is {}, expected {}.", quoted(choice),
                 "\"auto\", \"none\", \"required\" or a function");
  }
  if (!has_tools) {
    return wrong("tool_choice", "tool_choice is {}, but there are no tools.", quoted(choice));
  }
  const Json::Array& tools = fields.tools.as_array();
  for (size_t i = 0; i < tools.size(); ++i) {
    const std::string* own = text_of(tools[i].find("function")->find("name"));
    if (name == nullptr || *own == *name) out.called.push_back(i);
  }
  if (out.called.empty()) {
    return wrong("tool_choice", "tool_choice is {}, which none of the tools is called.",
                 quoted(*name));
  }
  return out;
}

Answer<Json> chat_variables(const Fields& fields) {
  if (fields.messages.is_null()) return wrong("messages", "messages is missing.");
  const Json::Array& messages = fields.messages.as_array();
  if (messages.empty()) return wrong("messages", "messages is empty, expected at least one.");
  Json::Array checked;
  for (size_t i = 0; i < messages.size(); ++i) {
    TOK_TRY(Json message, message_of(messages[i], fmt::format("messages[{}]", i)));
    checked.push_back(std::move(message));
  }
  if (fields.tools.is_array()) TOK_TRY(check_tools(fields.tools));
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  Json variables;
  variables.set("messages", std::move(checked));
  if (choice.shows) variables.set("tools", fields.tools);
  variables.set("add_generation_prompt", true);
  if (fields.chat_template_kwargs.is_null()) return variables;
  for (const auto& [name, value] : fields.chat_template_kwargs.as_object()) {
    if (name == "messages" || name == "tools") {
      return wrong("chat_template_kwargs", "chat_template_kwargs has {}, which is a field.", name);
    }
    variables.set(name, value);
  }
  return variables;
}

}  // namespace tokamak::openai
