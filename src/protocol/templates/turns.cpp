#include "protocol/templates/turns.h"

#include <algorithm>

#include "engine/engine.h"
#include "protocol/chat/chat_parts.h"
#include "protocol/chat/content_parts.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kGap = "\n\n";
// Words that no template has in its own text.
constexpr std::string_view kAsk = "Ask41", kRule = "Rule42", kMore = "More43", kHere = "Here44",
                           kWord = "Word45", kWell = "Well46";

bool has_role(const Json& message, std::string_view role) {
  return *message.find("role") == Json(role);
}

Json& content_of(Json& message) {
  return *message.find("content");
}

/// {"role", "content"} pairs in a row, as the template shows them; nothing where it refuses.
std::string rendered(const ModelFiles& files, Json::Array messages) {
  Json variables;
  variables.set("messages", std::move(messages)).set("add_generation_prompt", true);
  return render_chat(files, variables).value_or("");
}

bool shows(const ModelFiles& files, Json::Array messages,
           std::initializer_list<std::string_view> texts) {
  const std::string text = rendered(files, std::move(messages));
  return std::ranges::all_of(texts,
                             [&](std::string_view one) { return text.find(one) != text.npos; });
}

Json says(std::string_view role, std::string_view text) {
  return message_json(role, text);
}

/// A call of a tool and its result.
Json::Array with_result(Json content) {
  Json call = says("assistant", "");
  call.set("tool_calls",
           Json::Array{call_json("call00000", "look", Json(Json::Object{{"at", "it"}}))});
  Json result = message_json("tool", std::move(content));
  return {says("user", kAsk), std::move(call), result.set("tool_call_id", "call00000")};
}

/// The text that stands for an image in a message of the user; empty where none does.
std::string image_text(const ModelFiles& files) {
  const Json text = text_part(kWord), image(Json::Object{{"type", "image"}});
  const std::string without = rendered(files, {message_json("user", Json::Array{text})});
  const std::string with = rendered(files, {message_json("user", Json::Array{image, text})});
  if (with.size() <= without.size()) return {};
  const auto differ = std::ranges::mismatch(without, with);
  return std::string(differ.in2, differ.in2 + ptrdiff_t(with.size() - without.size()));
}

void add_system(std::string& all, const Json& message) {
  const std::string text = text_of_content(*message.find("content"));
  if (!all.empty() && !text.empty()) all += kGap;
  all += text;
}

/// Takes messages of the system out: those at the beginning, and with `all` the later ones.
std::string take_system(Json::Array& messages, bool all) {
  std::string text;
  bool is_leading = true;
  std::erase_if(messages, [&](const Json& message) {
    const bool is_system = has_role(message, "system");
    is_leading = is_leading && is_system;
    const bool is_taken = is_system && (is_leading || all);
    if (is_taken) add_system(text, message);
    return is_taken;
  });
  return text;
}

void put_system(Json::Array& messages, std::string text, bool has_system) {
  if (has_system) {
    messages.insert(messages.begin(), message_json("system", std::move(text)));
    return;
  }
  const auto first =
      std::ranges::find_if(messages, [](const Json& one) { return has_role(one, "user"); });
  if (first == messages.end()) {
    messages.insert(messages.begin(), message_json("user", std::move(text)));
  } else {
    content_of(*first) = joined_contents(std::move(text), content_of(*first), kGap);
  }
}

/// Moves images of results into a turn of the user after them; "[image]" takes their place.
void move_tool_images(Json::Array& messages) {
  Json::Array out, images;
  const auto flush = [&] {
    if (!images.empty()) out.push_back(message_json("user", std::exchange(images, {})));
  };
  for (Json& message : messages) {
    if (!has_role(message, "tool")) flush();
    Json& content = content_of(message);
    if (has_role(message, "tool") && content.is_array()) {
      for (const Json& part : content.as_array()) {
        if (text_in(part, "text") == nullptr) images.push_back(part);
      }
      content = text_of_content(content);
    }
    out.push_back(std::move(message));
  }
  flush();
  messages = std::move(out);
}

std::string take_reasoning(Json& message) {
  const std::string* found = text_in(message, "reasoning_content");
  std::string text = found == nullptr ? "" : *found;
  std::erase_if(message.as_object(),
                [](const Json::Member& member) { return member.first == "reasoning_content"; });
  return text;
}

/// Joins a message to the one before it that has its role, or to a tool's where it is the user's.
void join_turns(Json::Array& messages, const TurnRules& rules) {
  Json::Array out;
  for (Json& message : messages) {
    const auto follows = [&](const char* before, const char* role) {
      return !out.empty() && has_role(out.back(), before) && has_role(message, role);
    };
    const bool is_user = !rules.has_repeats && follows("user", "user");
    const bool is_assistant = !rules.has_repeats && follows("assistant", "assistant") &&
                              out.back().find("tool_calls") == nullptr;
    const bool is_result =
        !rules.has_user_after_tool && follows("tool", "user") && content_of(message).is_string();
    if (!is_user && !is_assistant && !is_result) {
      out.push_back(std::move(message));
      continue;
    }
    content_of(out.back()) = joined_contents(content_of(out.back()), content_of(message), kGap);
    if (const Json* calls = message.find("tool_calls")) out.back().set("tool_calls", *calls);
    if (const Json* thought = message.find("reasoning_content")) {
      std::string text = take_reasoning(out.back());
      add_line(text, thought->as_string());
      out.back().set("reasoning_content", text);
    }
  }
  messages = std::move(out);
}

/// Templates that read `thinking` take it or a text beside calls, not both.
void rename_reasoning(Json& message) {
  std::string text = take_reasoning(message);
  if (text.empty()) return;
  if (message.find("tool_calls") != nullptr) {
    add_line(text, text_of_content(content_of(message)));
    content_of(message) = "";
  }
  message.set("thinking", text);
}

}  // namespace

TurnRules find_turn_rules(const ModelFiles& files, std::string_view chat_template) {
  TurnRules rules;
  rules.calls_it_thinking = chat_template.find(".thinking") != chat_template.npos &&
                            chat_template.find("reasoning_content") == chat_template.npos;
  const Json user = says("user", kAsk), answer = says("assistant", kWell);
  if (!shows(files, {user}, {kAsk})) return rules;  // no template, or one of other variables
  rules.has_system = shows(files, {says("system", kRule), user}, {kRule, kAsk});
  rules.has_late_system =
      rules.has_system && shows(files, {user, answer, says("system", kRule), user}, {kRule});
  rules.has_repeats = shows(files, {user, says("user", kMore)}, {kAsk, kMore});
  Json::Array after = with_result(kHere);
  after.push_back(says("user", kMore));
  rules.has_user_after_tool =
      !shows(files, with_result(kHere), {kHere}) || shows(files, after, {kHere, kMore});
  const std::string image = image_text(files);
  if (!image.empty()) {
    const Json picture(Json::Object{{"type", "image"}});
    rules.has_tool_images =
        shows(files, with_result(Json::Array{text_part(kWord), picture}), {kWord, image});
  }
  return rules;
}

void fit_turns(Json::Array& messages, const TurnRules& rules) {
  std::string system = take_system(messages, !rules.has_late_system);
  if (!rules.has_tool_images) move_tool_images(messages);
  if (!system.empty()) put_system(messages, std::move(system), rules.has_system);
  join_turns(messages, rules);
  if (!rules.calls_it_thinking) return;
  for (Json& message : messages) rename_reasoning(message);
}

Json joined_contents(Json first, const Json& second, std::string_view between) {
  if (first.is_string() && second.is_string()) {
    const std::string& a = first.as_string();
    const std::string& b = second.as_string();
    if (a.empty() || b.empty()) return a + b;
    return a + std::string(between) + b;
  }
  const auto parts = [](const Json& content) {
    if (content.is_array()) return content.as_array();
    return content.as_string().empty() ? Json::Array{}
                                       : Json::Array{text_part(content.as_string())};
  };
  Json::Array all = parts(first);
  for (Json& part : parts(second)) all.push_back(std::move(part));
  return Json(std::move(all));
}

}  // namespace tokamak::protocol
