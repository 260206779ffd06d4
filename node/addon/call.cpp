// Answers of the protocols of a server, without one.
#include <utility>

#include "begin_flow.h"
#include "texts.h"
#include "tokamak/c_openai.h"

namespace tokamak::node {
namespace {

class AnswerFlow final : public Flow {
 public:
  AnswerFlow(std::shared_ptr<Addon> addon, std::shared_ptr<tokamak_model> model, Kept part,
             Kept end, std::shared_ptr<tokamak_call> call)
      : Flow(std::move(addon), std::move(model), std::move(part), std::move(end)),
        call_(std::move(call)) {}

 private:
  void on_ready(tokamak_ready ready, void* user) override {
    tokamak_call_on_ready(call_.get(), ready, user);
  }
  /// A part: its status, its type and its bytes.
  tokamak_next take(napi_env env, napi_value& part) override {
    tokamak_answer_part found{.size = sizeof(tokamak_answer_part)};
    const tokamak_next next = tokamak_call_next(call_.get(), 0, &found);
    if (next != TOKAMAK_STREAM_PIECE) return next;
    const napi_value members[] = {
        number_value(env, found.status), text_value(env, found.content_type),
        bytes_value(env, std::as_bytes(std::span(found.bytes, found.count)))};
    part = array_value(env, members);
    return next;
  }
  Result<napi_value> result(napi_env env) override { return undefined_value(env); }
  void cancel_handle() override { tokamak_call_cancel(call_.get()); }
  void free_handle() override { call_.reset(); }

  std::shared_ptr<tokamak_call> call_;  // until the end
};

using Call = std::shared_ptr<tokamak_call>;

Result<Call> make_call(tokamak_model* model, const std::string& path, const std::string& body) {
  ErrorSlot error;
  tokamak_call* made =
      tokamak_model_call(model, path.c_str(), body.empty() ? nullptr : body.c_str(), error);
  if (made == nullptr) return error.failure();
  return Call(made, tokamak_call_free);
}

}  // namespace

/// call(model, path, body, onPart, onEnd, isLong): a flow; a promise of it where the body is a long
/// one, which another thread prepares. A `body` of "" is none.
napi_value call(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string path = in.text(1, "path");
  const std::string body = in.text(2, "body");
  if (in.has_failed()) return in.raise();
  return begin_flow<AnswerFlow>(env, in, 3, "tokamak.call", [model = in.model(), path, body] {
    return make_call(model.get(), path, body);
  });
}

}  // namespace tokamak::node
