// Calls that are written between tags rather than as JSON.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "protocol/output/tool_call.h"

namespace tokamak::protocol {

/// <function=f><parameter=k>v</parameter></function>, of Qwen3-Coder and later. The type of a value
/// is that of the function's schema in `tools`: texts stand as they are, everything else as JSON or
/// as Python writes it. The tags of a value stand on lines of their own.
std::optional<std::vector<ToolCall>> parse_tagged_call(std::string_view text, const Json& tools);

/// The same with the tags of a value right beside it, of Seed-OSS.
std::optional<std::vector<ToolCall>> parse_seed_call(std::string_view text, const Json& tools);

/// f<arg_key>k</arg_key><arg_value>v</arg_value>, of GLM-4.5 and later; values as above.
std::optional<std::vector<ToolCall>> parse_glm_call(std::string_view text, const Json& tools);

/// <invoke name="f"><parameter name="k">v</parameter></invoke>, of MiniMax-M2; values as above.
std::optional<std::vector<ToolCall>> parse_invoked_calls(std::string_view text, const Json& tools);

/// The same with ｜DSML｜ before the name of each tag, of DeepSeek-V3.2 and later; a parameter with
/// string="true" is a text.
std::optional<std::vector<ToolCall>> parse_dsml_calls(std::string_view text, const Json& tools);

/// Kimi's: <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>.
std::optional<std::vector<ToolCall>> parse_kimi_calls(std::string_view text, const Json& tools);

/// Hunyuan's: <tool_call>f and JSON between fences</tool_call>.
std::optional<std::vector<ToolCall>> parse_hunyuan_calls(std::string_view text, const Json& tools);

/// DeepSeek's: <｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>, or in earlier models
/// function<｜tool▁sep｜>f and JSON between fences.
std::optional<std::vector<ToolCall>> parse_deepseek_calls(std::string_view text, const Json& tools);

}  // namespace tokamak::protocol
