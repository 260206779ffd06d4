// The reply of a chat: its text, its reasoning and the calls of tools, each apart.
#pragma once
#include <string>
#include <vector>

#include "tokamak/call.h"
#include "tokamak/error.h"

namespace tokamak {

/// A tool that a model calls. Its result goes back as a message {"role": "tool", "tool_call_id":
/// id, "content": ...}.
struct ToolCall {
  std::string id = {}, name = {};
  std::string arguments = {};  // a JSON object; of a tool of the type "custom" its text
};

struct ChatReply {
  std::string text = {};       // without reasoning and calls
  std::string reasoning = {};  // of a model that reasons
  std::vector<ToolCall> tool_calls = {};
  std::string finish = {};  // "stop", "length", "tool_calls", as in OpenAI's protocol
};

/// Waits for the rest of the answer to Model::call("/v1/chat/completions", body), streamed or not,
/// and gives its first choice. Errors: an answer that is an error, with its message; kUsage, where
/// the call is of another path.
Result<ChatReply> read_chat_reply(Call& call);

}  // namespace tokamak
