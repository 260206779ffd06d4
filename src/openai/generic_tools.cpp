// Tools for models whose chat template knows none: told in words, in the form of the first family.
#include <algorithm>

#include "base/hash.h"
#include "base/splitmix.h"
#include "openai/answer_writer.h"
#include "openai/chat_form.h"
#include "openai/messages.h"

namespace tokamak::openai {
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

std::string text_of(const Json& message) {
  const Json* content = message.find("content");
  return content != nullptr && content->is_string() ? content->as_string() : "";
}

/// The calls of an assistant's message as its model writes them.
std::string with_calls(const Json& message) {
  std::string out = text_of(message);
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

void set_content(Json& message, std::string content) {
  *message.find("content") = std::move(content);
}

/// In front of all that the message says, images among it.
void add_before(Json& message, const std::string& text) {
  Json& content = *message.find("content");
  if (content.is_array()) {
    content.as_array().insert(content.as_array().begin(),
                              Json(Json::Object{{"type", "text"}, {"text", text}}));
  } else {
    content = text + text_of(message);
  }
}

Json message_of(std::string_view role, std::string content) {
  return Json(Json::Object{{"role", role}, {"content", std::move(content)}});
}

Json with_generic_tools(const Json& variables, const ChatForm& form) {
  Json::Array out;
  bool follows_result = false;
  for (const Json& message : variables.find("messages")->as_array()) {
    const std::string& role = message.find("role")->as_string();
    if (role == "tool") {
      const std::string result = "<tool_response>\n" + text_of(message) + "\n</tool_response>";
      if (follows_result) {
        set_content(out.back(), text_of(out.back()) + "\n" + result);
      } else {
        out.push_back(message_of("user", result));
      }
    } else if (message.find("tool_calls") != nullptr) {
      out.push_back(message_of(role, with_calls(message)));
    } else {
      out.push_back(message);
    }
    follows_result = role == "tool";
  }
  if (const Json* tools = variables.find("tools")) {
    const std::string_view place = form.has_system ? "system" : "user";
    const bool has_place = *out.front().find("role") == Json(place);
    if (has_place) {
      add_before(out.front(), instruction(*tools) + "\n\n");
    } else {
      out.insert(out.begin(), message_of(place, instruction(*tools)));
    }
  }
  Json made(Json::Object{});
  for (const auto& [name, value] : variables.as_object()) {
    if (name != "tools" && name != "messages") made.set(name, value);
  }
  made.set("messages", std::move(out));
  return made;
}

/// Nine letters and digits: those ids that are not get others, always the same.
void shorten_id(Json* id) {
  constexpr size_t kLetters = 9;
  if (id == nullptr || !id->is_string()) return;
  const std::string& old = id->as_string();
  const bool is_short =
      old.size() == kLetters && std::ranges::all_of(old, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      });
  if (is_short) return;
  uint64_t state = hash_bytes(std::span<const char>(old), kHashStart);
  *id = random_id("", [&] { return next_random(state); }, kLetters);
}

void shorten_ids(Json& variables) {
  for (Json& message : variables.find("messages")->as_array()) {
    shorten_id(message.find("tool_call_id"));
    Json* calls = message.find("tool_calls");
    if (calls == nullptr) continue;
    for (Json& call : calls->as_array()) shorten_id(call.find("id"));
  }
}

bool has_tools(const Json& variables) {
  if (variables.find("tools") != nullptr) return true;
  return std::ranges::any_of(variables.find("messages")->as_array(), [](const Json& message) {
    return message.find("tool_calls") != nullptr || *message.find("role") == Json("tool");
  });
}

}  // namespace

Answer<Json> chat_prompt_variables(const Fields& fields, const ChatForm& form) {
  TOK_TRY(Json variables, chat_variables(fields));
  if (form.tools->has_short_ids) shorten_ids(variables);
  if (form.is_generic && has_tools(variables)) return with_generic_tools(variables, form);
  return variables;
}

}  // namespace tokamak::openai
