// How families of models write calls of tools: one row of a table for each.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "protocol/output/tool_call.h"

namespace tokamak::protocol {

struct ToolFamily {
  std::string_view name;
  /// The texts before and after calls. Without `close` a call ends with the message.
  std::string_view open, close;
  /// Other texts that are tokens and belong to a call.
  std::vector<std::string_view> inner;
  /// Whether a chat template shows its model this form.
  bool (*fits)(std::string_view chat_template);
  /// The calls between the marks; nothing where the text is none. `tools` as in a request.
  std::optional<std::vector<ToolCall>> (*parse)(std::string_view text, const Json& tools);
  /// The key of the arguments where a call is {"name": "f", KEY: {...}}; else empty.
  std::string_view arguments_key;
  /// Tokens that end an answer, beside the model's own ends.
  std::vector<std::string_view> ends = {};
  bool is_whole_message = false;  // a call without `open` may be, if it is all of it
  bool has_one_call = false;      // a message has one at most
  bool has_short_ids = false;     // ids of calls are 9 letters and digits
  bool has_numbered_ids = false;  // they are functions.f:0, functions.g:1, ... in a conversation
  bool has_channels = false;  // `open` and `inner` are the marks of channels.h, which reads calls

  bool can_be_held() const { return has_channels || !arguments_key.empty(); }
};

/// How a call that is the whole message begins, up to the name, without white space.
inline constexpr std::string_view kWholeCallStarts[] = {R"({"name":")",
                                                        R"({"type":"function","name":")"};

/// The texts before the name in a constrained call, and between it and the arguments.
inline constexpr std::string_view kCallStart = R"({"name": ")";
std::string call_middle(const ToolFamily& family);

/// In the order in which they are looked for; the first is also the form for models whose template
/// knows no tools.
std::span<const ToolFamily> tool_families();

/// Null where the template knows none of them.
const ToolFamily* tool_family_of(std::string_view chat_template);

}  // namespace tokamak::protocol
