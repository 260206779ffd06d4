#include "tokamak/chat_reply.h"

#include <utility>

#include "base/json.h"
#include "base/result.h"

namespace tokamak {
namespace {

const Json* member(const Json* of, std::string_view name) {
  return of == nullptr || !of->is_object() ? nullptr : of->find(name);
}

void add_text(std::string& to, const Json* of, std::string_view name) {
  const Json* text = member(of, name);
  if (text != nullptr && text->is_string()) to += text->as_string();
}

const Json* first(const Json* list) {
  return list == nullptr || !list->is_array() || list->as_array().empty() ? nullptr
                                                                          : &list->as_array()[0];
}

/// Adds the calls of a message, or what a chunk has of one of them, which it names by its index.
void add_calls(std::vector<ToolCall>& to, const Json* calls, bool is_chunk) {
  if (calls == nullptr || !calls->is_array()) return;
  for (const Json& call : calls->as_array()) {
    const Json* index = member(&call, "index");
    const bool is_known = is_chunk && index != nullptr && index->is_integer() && !to.empty() &&
                          index->as_integer() < int64_t(to.size());
    ToolCall& own = is_known ? to[size_t(index->as_integer())] : to.emplace_back();
    add_text(own.id, &call, "id");
    for (const auto& [kind, what] :
         {std::pair("function", "arguments"), std::pair("custom", "input")}) {
      add_text(own.name, member(&call, kind), "name");
      add_text(own.arguments, member(&call, kind), what);
    }
  }
}

Failure refused(const AnswerPart& part, const Json& error) {
  std::string message;
  add_text(message, &error, "message");
  const bool is_cancelled = part.status == 503;
  return Failure(
      Error{is_cancelled ? ErrorCode::kCancelled : ErrorCode::kInvalidInput, std::move(message)});
}

/// A whole answer, or one event of a stream.
Result<void> add_part(ChatReply& reply, const AnswerPart& part) {
  const auto json = Json::parse(part.bytes);
  if (!json) return Failure(json.error());
  if (const Json* error = member(&*json, "error")) return refused(part, *error);
  std::string object;
  add_text(object, &*json, "object");
  const bool is_chunk = object == "chat.completion.chunk";
  if (!is_chunk && object != "chat.completion") {
    return fail(ErrorCode::kUsage,
                "The call has another answer than a chat's; expected one of "
                "/v1/chat/completions.");
  }
  const Json* choice = first(member(&*json, "choices"));  // the last event may have none
  const Json* index = member(choice, "index");
  if (index != nullptr && *index != Json(0)) return {};
  const Json* message = member(choice, is_chunk ? "delta" : "message");
  add_text(reply.text, message, "content");
  add_text(reply.reasoning, message, "reasoning_content");
  add_calls(reply.tool_calls, member(message, "tool_calls"), is_chunk);
  add_text(reply.finish, choice, "finish_reason");
  return {};
}

}  // namespace

Result<ChatReply> read_chat_reply(Call& call) {
  ChatReply reply;
  while (const auto part = call.next()) TOK_TRY(add_part(reply, *part));
  return reply;
}

}  // namespace tokamak
