#include "protocol/output/tool_family.h"

#include "protocol/output/channels.h"
#include "protocol/output/literals.h"
#include "protocol/output/tagged_calls.h"

namespace tokamak::protocol {
namespace {

using Calls = std::optional<std::vector<ToolCall>>;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// {"name": "f", ARGUMENTS: {...}}, or with a `tool_name`; none without arguments.
std::optional<ToolCall> call_of(const Json& value) {
  const Json* name = value.find("name");
  if (name == nullptr) name = value.find("tool_name");
  if (name == nullptr || !name->is_string() || name->as_string().empty()) return std::nullopt;
  const Json* arguments = value.find("arguments");
  if (arguments == nullptr) arguments = value.find("parameters");
  if (arguments == nullptr || arguments->is_null()) return ToolCall{name->as_string(), "{}"};
  if (!arguments->is_object()) return std::nullopt;
  return ToolCall{name->as_string(), arguments->dump()};
}

/// The values one after the other, as JSON or as Python writes them; none where something is no
/// value.
Json::Array values_in(std::string_view text) {
  if (auto parsed = Json::parse(text)) return {*std::move(parsed)};
  Json::Array out;
  LiteralReader reader(text);
  while (!reader.rest().empty()) {
    auto value = reader.value();
    if (!value) return {};
    out.push_back(*std::move(value));
  }
  return out;
}

/// Calls one after the other, or a list of them.
Calls parse_json(std::string_view text, const Json&) {
  Json::Array all = values_in(text);
  if (all.size() == 1 && all.front().is_array()) all = Json::Array(all.front().as_array());
  std::vector<ToolCall> calls;
  for (const Json& one : all) {
    auto call = call_of(one);
    if (!call) return std::nullopt;
    calls.push_back(*std::move(call));
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

/// name.call(k="v"), [f(k='v', n=1), g()], and one after the other without brackets.
Calls parse_python(std::string_view text, const Json&) {
  LiteralReader reader(text);
  const bool is_list = reader.take("[");
  std::vector<ToolCall> calls;
  do {
    auto name = reader.name();
    if (!name || !reader.take("(")) return std::nullopt;
    if (!is_list && name->ends_with(".call")) name->remove_suffix(5);
    Json arguments(Json::Object{});
    while (!reader.take(")")) {
      const auto key = reader.name();
      if (!key || !reader.take("=")) return std::nullopt;
      auto value = reader.value();
      if (!value) return std::nullopt;
      arguments.set(std::string(*key), *std::move(value));
      if (!reader.take(",") && !reader.rest().starts_with(")")) return std::nullopt;
    }
    calls.push_back({std::string(*name), arguments.dump()});
  } while (is_list ? reader.take(",") : !reader.rest().empty());
  if (is_list && !reader.take("]")) return std::nullopt;
  if (!reader.rest().empty()) return std::nullopt;
  return calls;
}

Calls parse_llama3(std::string_view text, const Json& tools) {
  Calls calls = parse_json(text, tools);
  return calls ? calls : parse_python(text, tools);
}

/// [{"f": {...}}, {"g": {...}}]
Calls parse_named(std::string_view text, const Json&) {
  const auto parsed = Json::parse(text);
  if (!parsed || !parsed->is_array()) return std::nullopt;
  std::vector<ToolCall> calls;
  for (const Json& one : parsed->as_array()) {
    if (!one.is_object() || one.as_object().size() != 1) return std::nullopt;
    const auto& [name, arguments] = one.as_object().front();
    if (!arguments.is_object()) return std::nullopt;
    calls.push_back({name, arguments.dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

/// f[ARGS]{...}, perhaps with [CALL_ID]id between; or the list of earlier models.
Calls parse_mistral(std::string_view text, const Json& tools) {
  constexpr std::string_view kArguments = "[ARGS]", kId = "[CALL_ID]";
  if (Calls listed = parse_json(text, tools)) return listed;
  std::vector<ToolCall> calls;
  LiteralReader reader(text);
  while (!reader.rest().empty()) {
    if (!calls.empty() && !reader.take("[TOOL_CALLS]")) return std::nullopt;
    const auto name = reader.name();
    if (!name) return std::nullopt;
    if (reader.take(kId) && !reader.name()) return std::nullopt;
    if (!reader.take(kArguments)) return std::nullopt;
    const auto arguments = reader.value();
    if (!arguments || !arguments->is_object()) return std::nullopt;
    calls.push_back({std::string(*name), arguments->dump()});
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

/// call:f{k:<mark>text<mark>,n:42}
Calls parse_gemma(std::string_view text, std::string_view mark) {
  LiteralReader reader(text, mark);
  if (!reader.take("call:")) return std::nullopt;
  const auto name = reader.name();
  if (!name || !reader.rest().starts_with("{")) return std::nullopt;
  const auto arguments = reader.value();
  if (!arguments || !reader.rest().empty()) return std::nullopt;
  return std::vector<ToolCall>{{std::string(*name), arguments->dump()}};
}

Calls parse_gemma4(std::string_view text, const Json&) {
  return parse_gemma(text, "<|\"|>");
}
Calls parse_function_gemma(std::string_view text, const Json&) {
  return parse_gemma(text, "<escape>");
}

/// Calls in channels are never between two marks.
Calls parse_nothing(std::string_view, const Json&) {
  return std::nullopt;
}

// The more particular come first: some templates show what several of them look for.
const ToolFamily kFamilies[] = {
    {.name = "hermes",
     .open = "<tool_call>",
     .close = "</tool_call>",
     .inner = {},
     .fits =
         [](std::string_view t) {
           return has(t, "<tool_call>") && has(t, "arguments") && !has(t, "<function=") &&
                  !has(t, "<arg_key>") && !has(t, "<tool_calls>");
         },
     .parse = parse_json,
     .arguments_key = "arguments"},
    {.name = "qwen3-coder",
     .open = "<tool_call>",
     .close = "</tool_call>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<function=") && has(t, "<tool_call>"); },
     .parse = parse_tagged_call,
     .arguments_key = {}},
    {.name = "glm4",
     .open = "<tool_call>",
     .close = "</tool_call>",
     .inner = {"<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"},
     .fits = [](std::string_view t) { return has(t, "<arg_key>") && has(t, "<tool_call>"); },
     .parse = parse_glm_call,
     .arguments_key = {},
     .ends = {"<|user|>", "<|observation|>"}},
    {.name = "seed",
     .open = "<seed:tool_call>",
     .close = "</seed:tool_call>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<seed:tool_call>"); },
     .parse = parse_seed_call,
     .arguments_key = {}},
    {.name = "minimax",
     .open = "<minimax:tool_call>",
     .close = "</minimax:tool_call>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<minimax:tool_call>"); },
     .parse = parse_invoked_calls,
     .arguments_key = {}},
    {.name = "hunyuan",
     .open = "<tool_calls>",
     .close = "</tool_calls>",
     .inner = {"<tool_call>", "</tool_call>"},
     .fits = [](std::string_view t) { return has(t, "<tool_calls>") && has(t, "<tool_call>"); },
     .parse = parse_hunyuan_calls,
     .arguments_key = {}},
    {.name = "tool-calls",
     .open = "<tool_calls>",
     .close = "</tool_calls>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<tool_calls>") && !has(t, "<tool_call>"); },
     .parse = parse_json,
     .arguments_key = {}},
    {.name = "command",
     .open = "<|START_ACTION|>",
     .close = "<|END_ACTION|>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<|START_ACTION|>"); },
     .parse = parse_json,
     .arguments_key = {}},
    {.name = "apertus",
     .open = "<|tools_prefix|>",
     .close = "<|tools_suffix|>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<|tools_prefix|>"); },
     .parse = parse_named,
     .arguments_key = {}},
    {.name = "olmo3",
     .open = "<function_calls>",
     .close = "</function_calls>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<function_calls>") && !has(t, "DSML"); },
     .parse = parse_python,
     .arguments_key = {}},
    {.name = "gemma4",
     .open = "<|tool_call>",
     .close = "<tool_call|>",
     .inner = {"<|\"|>"},
     .fits = [](std::string_view t) { return has(t, "<|tool_call>"); },
     .parse = parse_gemma4,
     .arguments_key = {}},
    {.name = "functiongemma",
     .open = "<start_function_call>",
     .close = "<end_function_call>",
     .inner = {"<escape>"},
     .fits = [](std::string_view t) { return has(t, "<start_function_call>"); },
     .parse = parse_function_gemma,
     .arguments_key = {}},
    {.name = "lfm2",
     .open = "<|tool_call_start|>",
     .close = "<|tool_call_end|>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<|tool_call_start|>"); },
     .parse = parse_python,
     .arguments_key = {}},
    {.name = "deepseek",
     .open = "<｜tool▁calls▁begin｜>",
     .close = "<｜tool▁calls▁end｜>",
     .inner = {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},
     .fits = [](std::string_view t) { return has(t, "<｜tool▁calls▁begin｜>"); },
     .parse = parse_deepseek_calls,
     .arguments_key = {}},
    {.name = "kimi",
     .open = "<|tool_calls_section_begin|>",
     .close = "<|tool_calls_section_end|>",
     .inner = {"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"},
     .fits = [](std::string_view t) { return has(t, "<|tool_calls_section_begin|>"); },
     .parse = parse_kimi_calls,
     .arguments_key = {},
     .has_numbered_ids = true},
    {.name = "dsml",
     .open = "<｜DSML｜function_calls>",
     .close = "</｜DSML｜function_calls>",
     .inner = {"｜DSML｜"},
     .fits = [](std::string_view t) { return has(t, "DSML") && has(t, "function_calls>"); },
     .parse = parse_dsml_calls,
     .arguments_key = {}},
    {.name = "dsml-v4",
     .open = "<｜DSML｜tool_calls>",
     .close = "</｜DSML｜tool_calls>",
     .inner = {"｜DSML｜"},
     .fits = [](std::string_view t) { return has(t, "DSML") && has(t, "tool_calls>"); },
     .parse = parse_dsml_calls,
     .arguments_key = {}},
    {.name = "nemotron",
     .open = "<TOOLCALL>",
     .close = "</TOOLCALL>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<TOOLCALL>"); },
     .parse = parse_json,
     .arguments_key = {}},
    {.name = "phi4",
     .open = "<|tool_call|>",
     .close = "<|/tool_call|>",
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<|/tool_call|>"); },
     .parse = parse_json,
     .arguments_key = {}},
    {.name = "granite3",
     .open = "<|tool_call|>",
     .close = {},
     .inner = {},
     .fits = [](std::string_view t) { return has(t, "<|tool_call|>"); },
     .parse = parse_json,
     .arguments_key = {}},
    {.name = "mistral",
     .open = "[TOOL_CALLS]",
     .close = {},
     .inner = {"[ARGS]", "[CALL_ID]"},
     .fits = [](std::string_view t) { return has(t, "[TOOL_CALLS]"); },
     .parse = parse_mistral,
     .arguments_key = {},
     .has_short_ids = true},
    {.name = "llama3",
     .open = "<|python_tag|>",
     .close = {},
     .inner = {},
     .fits =
         [](std::string_view t) {
           return has(t, "\"parameters\"") && (has(t, "<|python_tag|>") || has(t, "ipython"));
         },
     .parse = parse_llama3,
     .arguments_key = "parameters",
     .is_whole_message = true,
     .has_one_call = true},
    {.name = "harmony",
     .open = kChannelMark,
     .close = kCallMark,
     .inner = {kStartMark, kConstrainMark, kMessageMark, kEndMark, kReturnMark},
     .fits =
         [](std::string_view t) {
           return has(t, kStartMark) && has(t, kChannelMark) && has(t, kMessageMark);
         },
     .parse = parse_nothing,
     .arguments_key = {},
     .ends = {kCallMark, kReturnMark},
     .has_one_call = true,
     .has_channels = true},
};

}  // namespace

std::span<const ToolFamily> tool_families() {
  return kFamilies;
}

const ToolFamily* tool_family_of(std::string_view chat_template) {
  for (const ToolFamily& family : kFamilies) {
    if (family.fits(chat_template)) return &family;
  }
  return nullptr;
}

std::string call_middle(const ToolFamily& family) {
  return fmt::format(R"(", "{}": )", family.arguments_key);
}

}  // namespace tokamak::protocol
