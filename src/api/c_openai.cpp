#include "tokamak/c_openai.h"

#include "api/c_answers.h"

using namespace tokamak;

struct tokamak_call {
  Call call;
  AnswerPart part;  // the target of the pointers in the last one
  ChatReply reply;  // the same
  std::vector<tokamak_tool_call> tool_calls;
  bool has_failed = false;
};

tokamak_call* tokamak_model_call(tokamak_model* model, const char* path, const char* body,
                                 tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_call*> {
    TOK_TRY(Call call, model->model.call(text_or_empty(path), text_or_empty(body)));
    return new tokamak_call{.call = std::move(call), .part = {}, .reply = {}, .tool_calls = {}};
  });
}

void tokamak_call_free(tokamak_call* call) {
  delete call;
}

void tokamak_call_cancel(tokamak_call* call) {
  call->call.cancel();
}

void tokamak_call_on_ready(tokamak_call* call, tokamak_ready ready, void* user) {
  set_ready(call->call, ready, user);
}

tokamak_next tokamak_call_next(tokamak_call* call, double timeout, tokamak_answer_part* part) {
  auto found = guarded([&]() -> Result<tokamak_next> {
    if (call->has_failed) return TOKAMAK_STREAM_END;
    auto next = next_within(call->call, timeout);
    if (!next) return call->call.ended() ? TOKAMAK_STREAM_END : TOKAMAK_STREAM_TIMEOUT;
    call->part = *std::move(next);
    fill(part, {.size = sizeof(tokamak_answer_part),
                .status = call->part.status,
                .content_type = call->part.content_type.c_str(),
                .bytes = call->part.bytes.c_str(),
                .count = call->part.bytes.size()});
    return TOKAMAK_STREAM_PIECE;
  });
  call->has_failed = call->has_failed || !found;
  return found.value_or(TOKAMAK_STREAM_END);
}

bool tokamak_call_chat_reply(tokamak_call* call, tokamak_chat_reply* reply, tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    TOK_TRY(call->reply, read_chat_reply(call->call));
    const ChatReply& own = call->reply;
    call->tool_calls.clear();
    for (const ToolCall& one : own.tool_calls) {
      call->tool_calls.push_back(
          {.id = one.id.c_str(), .name = one.name.c_str(), .arguments = one.arguments.c_str()});
    }
    fill(reply, {.size = sizeof(tokamak_chat_reply),
                 .text = own.text.c_str(),
                 .text_bytes = own.text.size(),
                 .reasoning = own.reasoning.c_str(),
                 .reasoning_bytes = own.reasoning.size(),
                 .tool_calls = call->tool_calls.data(),
                 .tool_call_count = call->tool_calls.size(),
                 .finish = own.finish.c_str()});
    return {};
  });
}
