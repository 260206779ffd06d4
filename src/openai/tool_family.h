// How families of models write calls of tools: one row of a table for each.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "openai/tool_call.h"

namespace tokamak::openai {

struct ToolFamily {
  std::string_view name;
  /// What stands before and after calls. Without `close` a call ends with the message.
  std::string_view open, close;
  /// Other texts that are tokens and belong to a call.
  std::vector<std::string_view> inner;
  /// Whether a chat template shows its model this form.
  bool (*fits)(std::string_view chat_template);
  /// The calls between the marks; nothing where the text is none. `tools` as in a request.
  std::optional<std::vector<ToolCall>> (*parse)(std::string_view text, const Json& tools);
  /// The rule of a single call in GBNF, in which NAME is a function's name and ARGUMENTS a rule for
  /// its arguments; empty where models cannot be held to a call yet.
  std::string_view call_rule;
  bool is_whole_message = false;  // a call without `open` may be, if it is all of it
  bool has_one_call = false;      // a message has one at most
  bool has_short_ids = false;     // ids of calls are 9 letters and digits
};

/// In the order in which they are looked for; the first is also the form for models whose template
/// knows no tools.
std::span<const ToolFamily> tool_families();

/// Null where the template knows none of them.
const ToolFamily* tool_family_of(std::string_view chat_template);

/// GBNF of one or more calls of functions with those names, in which the rules arguments-0,
/// arguments-1 and so on are missing: those of each function's arguments.
std::string call_grammar(const ToolFamily& family, std::span<const std::string> names,
                         bool is_one_only);

}  // namespace tokamak::openai
