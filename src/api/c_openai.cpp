#include "tokamak/c_openai.h"

#include "api/c_answers.h"

using namespace tokamak;

struct tokamak_call {
  Call call;
  AnswerPart part;  // the target of the pointers in the last one
  bool has_failed = false;
};

tokamak_call* tokamak_model_call(tokamak_model* model, const char* path, const char* body,
                                 tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_call*> {
    TOK_TRY(Call call, model->model.call(text_or_empty(path), text_or_empty(body)));
    return new tokamak_call{.call = std::move(call), .part = {}};
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
