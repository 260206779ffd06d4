// Calls that are written between tags rather than as JSON.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "openai/tool_call.h"

namespace tokamak::openai {

/// <function=f><parameter=k>v</parameter></function>, of Qwen3-Coder and later. What a value is the
/// function's schema in `tools` says: texts stand as they are, everything else as JSON.
std::optional<std::vector<ToolCall>> parse_tagged_call(std::string_view text, const Json& tools);

/// f<arg_key>k</arg_key><arg_value>v</arg_value>, of GLM-4.5 and later; values as above.
std::optional<std::vector<ToolCall>> parse_glm_call(std::string_view text, const Json& tools);

/// <invoke name="f"><parameter name="k">v</parameter></invoke>, of MiniMax-M2; values as above.
std::optional<std::vector<ToolCall>> parse_invoked_calls(std::string_view text, const Json& tools);

/// Hunyuan's: <tool_call>f and JSON between fences</tool_call>.
std::optional<std::vector<ToolCall>> parse_hunyuan_calls(std::string_view text, const Json& tools);

/// DeepSeek's: <｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>, or in earlier models
/// function<｜tool▁sep｜>f and JSON between fences.
std::optional<std::vector<ToolCall>> parse_deepseek_calls(std::string_view text, const Json& tools);

/// The schema of a function's parameters; null where there is none.
const Json* parameters_of(const Json& tools, std::string_view function);

}  // namespace tokamak::openai
