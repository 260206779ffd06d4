#include "protocol/output/tagged_calls.h"

#include <algorithm>

#include "base/ascii.h"
#include "protocol/output/argument_values.h"

namespace tokamak::protocol {
namespace {

using Calls = std::optional<std::vector<ToolCall>>;

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

/// Takes a value and the tag that closes it: the first one after which another value comes, or the
/// end of the call, so that texts may spell the tag.
bool take_value(std::string_view& text, std::string_view close, std::string_view next,
                std::string_view end, std::string_view& out) {
  for (size_t at = text.find(close); at != std::string_view::npos; at = text.find(close, at + 1)) {
    std::string_view rest = text.substr(at + close.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    if (!rest.starts_with(next) && !(end.empty() ? rest.empty() : rest.starts_with(end))) continue;
    out = text.substr(0, at);
    text = rest;
    return true;
  }
  return false;
}

/// The tags of <invoke name="f"><parameter name="k">v</parameter></invoke>, with `mark` before
/// each of the words.
Calls parse_invoked(std::string_view text, std::string_view mark, const Json& tools) {
  const std::string invoke = fmt::format("<{}invoke name=\"", mark),
                    invoke_end = fmt::format("</{}invoke>", mark),
                    parameter = fmt::format("<{}parameter name=\"", mark),
                    parameter_end = fmt::format("</{}parameter>", mark);
  std::vector<ToolCall> calls;
  while (!trimmed(text).empty()) {
    std::string_view name;
    if (!take(text, invoke) || !take_until(text, "\">", name)) return std::nullopt;
    const Json* parameters = parameters_of(tools, name);
    Json arguments(Json::Object{});
    while (!take(text, invoke_end)) {
      std::string_view key, attributes, value;
      if (!take(text, parameter) || !take_until(text, "\"", key) ||
          !take_until(text, ">", attributes) ||
          !take_value(text, parameter_end, parameter, invoke_end, value)) {
        return std::nullopt;
      }
      if (attributes.find("string=\"true\"") != std::string_view::npos) {
        arguments.set(std::string(key), Json(value));
      } else {
        set_argument(parameters, key, value, arguments);
      }
    }
    calls.push_back({std::string(name), arguments.dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

/// `has_lines`: the tags of a value stand on lines of their own.
Calls parse_function(std::string_view text, const Json& tools, bool has_lines) {
  std::string_view name;
  if (!take(text, "<function=") || !take_until(text, ">", name)) return std::nullopt;
  if (name.empty()) return std::nullopt;
  const Json* parameters = parameters_of(tools, name);
  Json arguments(Json::Object{});
  while (!take(text, "</function>")) {
    std::string_view key, value;
    if (!take(text, "<parameter=") || !take_until(text, ">", key) ||
        !take_value(text, "</parameter>", "<parameter=", "</function>", value)) {
      return std::nullopt;
    }
    set_argument(parameters, key, has_lines ? without_line_ends(value) : value, arguments);
  }
  if (!trimmed(text).empty()) return std::nullopt;
  return std::vector<ToolCall>{{std::string(name), arguments.dump()}};
}

}  // namespace

Calls parse_tagged_call(std::string_view text, const Json& tools) {
  return parse_function(text, tools, true);
}

Calls parse_seed_call(std::string_view text, const Json& tools) {
  return parse_function(text, tools, false);
}

Calls parse_glm_call(std::string_view text, const Json& tools) {
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
        !take_value(text, "</arg_value>", kKey, "", value)) {
      return std::nullopt;
    }
    set_argument(parameters, key, value, arguments);
  }
  return std::vector<ToolCall>{{std::string(name), arguments.dump()}};
}

Calls parse_invoked_calls(std::string_view text, const Json& tools) {
  return parse_invoked(text, "", tools);
}

Calls parse_dsml_calls(std::string_view text, const Json& tools) {
  return parse_invoked(text, "｜DSML｜", tools);
}

Calls parse_hunyuan_calls(std::string_view text, const Json&) {
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

Calls parse_kimi_calls(std::string_view text, const Json&) {
  constexpr std::string_view kFunctions = "functions.";
  std::vector<ToolCall> calls;
  while (!trimmed(text).empty()) {
    std::string_view name, body;
    if (!take(text, "<|tool_call_begin|>") ||
        !take_until(text, "<|tool_call_argument_begin|>", name) ||
        !take_until(text, "<|tool_call_end|>", body)) {
      return std::nullopt;
    }
    name = trimmed(name);
    name = name.substr(0, name.rfind(':'));
    if (name.starts_with(kFunctions)) name.remove_prefix(kFunctions.size());
    const auto arguments = Json::parse(body);
    if (name.empty() || !arguments || !arguments->is_object()) return std::nullopt;
    calls.push_back({std::string(name), arguments->dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

Calls parse_deepseek_calls(std::string_view text, const Json&) {
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

}  // namespace tokamak::protocol
