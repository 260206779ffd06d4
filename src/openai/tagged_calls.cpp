#include "openai/tagged_calls.h"

#include <algorithm>

#include "base/ascii.h"

namespace tokamak::openai {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// Takes what stands before `end`, and `end` itself. False where it is not there.
bool take_until(std::string_view& text, std::string_view end, std::string_view& out) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return false;
  out = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return true;
}

bool take(std::string_view& text, std::string_view start) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// The newline of the tag's own line, on either side.
std::string_view without_line_ends(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

/// JSON between fences, or all of `text`.
std::string_view without_fences(std::string_view text) {
  constexpr std::string_view kFence = "```";
  const size_t begin = text.find(kFence), end = text.rfind(kFence);
  if (begin == end) return text;
  text = text.substr(begin + kFence.size(), end - begin - kFence.size());
  take(text, "json");
  return text;
}

/// Whether a schema says that the value is a text.
bool is_text(const Json* parameters, std::string_view name) {
  const Json* properties = parameters == nullptr ? nullptr : parameters->find("properties");
  const Json* property = properties == nullptr ? nullptr : properties->find(name);
  const Json* type = property == nullptr ? nullptr : property->find("type");
  return type != nullptr && *type == Json("string");
}

/// Sets a value from the text between tags: a text where the schema has one, else JSON if it is.
void set_value(const Json* parameters, std::string_view key, std::string_view text, Json& out) {
  const std::string_view value = without_line_ends(text);
  const auto parsed = Json::parse(value);
  const bool is_json = parsed && !is_text(parameters, key);
  out.set(std::string(key), is_json ? *parsed : Json(value));
}

}  // namespace

const Json* parameters_of(const Json& tools, std::string_view function) {
  if (!tools.is_array()) return nullptr;
  for (const Json& tool : tools.as_array()) {
    const Json* about = tool.find("function");
    const Json* name = about == nullptr ? nullptr : about->find("name");
    if (name != nullptr && *name == Json(function)) return about->find("parameters");
  }
  return nullptr;
}

std::optional<std::vector<ToolCall>> parse_tagged_call(std::string_view text, const Json& tools) {
  std::string_view name;
  if (!take(text, "<function=") || !take_until(text, ">", name)) return std::nullopt;
  if (name.empty()) return std::nullopt;
  const Json* parameters = parameters_of(tools, name);
  Json arguments(Json::Object{});
  while (!take(text, "</function>")) {
    std::string_view key, value;
    if (!take(text, "<parameter=") || !take_until(text, ">", key) ||
        !take_until(text, "</parameter>", value)) {
      return std::nullopt;
    }
    set_value(parameters, key, value, arguments);
  }
  if (!trimmed(text).empty()) return std::nullopt;
  return std::vector<ToolCall>{{std::string(name), arguments.dump()}};
}

std::optional<std::vector<ToolCall>> parse_glm_call(std::string_view text, const Json& tools) {
  constexpr std::string_view kKey = "<arg_key>";
  const size_t name_end = std::min(text.find(kKey), text.size());
  const std::string_view name = trimmed(text.substr(0, name_end));
  text.remove_prefix(name_end);
  // A text that has more than a name is no call.
  if (name.empty() || name.find_first_of(" \t\r\n<{") != std::string_view::npos)
    return std::nullopt;
  const Json* parameters = parameters_of(tools, name);
  Json arguments(Json::Object{});
  while (!trimmed(text).empty()) {
    std::string_view key, value;
    if (!take(text, kKey) || !take_until(text, "</arg_key>", key) || !take(text, "<arg_value>") ||
        !take_until(text, "</arg_value>", value)) {
      return std::nullopt;
    }
    set_value(parameters, key, value, arguments);
  }
  return std::vector<ToolCall>{{std::string(name), arguments.dump()}};
}

std::optional<std::vector<ToolCall>> parse_invoked_calls(std::string_view text, const Json& tools) {
  std::vector<ToolCall> calls;
  while (!trimmed(text).empty()) {
    std::string_view name;
    if (!take(text, "<invoke name=\"") || !take_until(text, "\">", name)) return std::nullopt;
    const Json* parameters = parameters_of(tools, name);
    Json arguments(Json::Object{});
    while (!take(text, "</invoke>")) {
      std::string_view key, value;
      if (!take(text, "<parameter name=\"") || !take_until(text, "\">", key) ||
          !take_until(text, "</parameter>", value)) {
        return std::nullopt;
      }
      set_value(parameters, key, value, arguments);
    }
    calls.push_back({std::string(name), arguments.dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

std::optional<std::vector<ToolCall>> parse_hunyuan_calls(std::string_view text, const Json&) {
  std::vector<ToolCall> calls;
  while (!trimmed(text).empty()) {
    std::string_view body;
    if (!take(text, "<tool_call>") || !take_until(text, "</tool_call>", body)) return std::nullopt;
    const size_t name_end = std::min(body.find_first_of("\n`"), body.size());
    const std::string_view name = trimmed(body.substr(0, name_end));
    const auto arguments = Json::parse(without_fences(body.substr(name_end)));
    if (name.empty() || !arguments || !arguments->is_object()) return std::nullopt;
    calls.push_back({std::string(name), arguments->dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

std::optional<std::vector<ToolCall>> parse_deepseek_calls(std::string_view text, const Json&) {
  constexpr std::string_view kFence = "```";
  std::vector<ToolCall> calls;
  while (!trimmed(text).empty()) {
    std::string_view name, body;
    if (!take(text, "<｜tool▁call▁begin｜>") || !take_until(text, "<｜tool▁sep｜>", name) ||
        !take_until(text, "<｜tool▁call▁end｜>", body)) {
      return std::nullopt;
    }
    if (trimmed(name) == "function" && body.find(kFence) != std::string_view::npos) {
      name = body.substr(0, body.find(kFence));
      body = without_fences(body);
    }
    const auto arguments = Json::parse(body);
    if (trimmed(name).empty() || !arguments || !arguments->is_object()) return std::nullopt;
    calls.push_back({std::string(trimmed(name)), arguments->dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

}  // namespace tokamak::openai
