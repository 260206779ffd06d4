// Answers of the protocols of a server, without one.
#include <utility>

#include "flow.h"
#include "model.h"
#include "texts.h"
#include "tokamak/c_openai.h"

namespace tokamak::node {
namespace {

class AnswerFlow final : public Flow {
 public:
  AnswerFlow(std::shared_ptr<Addon> addon, std::shared_ptr<tokamak_model> model, Kept part,
             Kept end, tokamak_call* call)
      : Flow(std::move(addon), std::move(model), std::move(part), std::move(end)), call_(call) {}
  ~AnswerFlow() override { tokamak_call_free(call_); }

 private:
  void on_ready(tokamak_ready ready, void* user) override {
    tokamak_call_on_ready(call_, ready, user);
  }
  /// A part: its status, its type and its bytes.
  tokamak_next take(napi_env env, napi_value& part) override {
    tokamak_answer_part found{.size = sizeof(tokamak_answer_part)};
    const tokamak_next next = tokamak_call_next(call_, 0, &found);
    if (next != TOKAMAK_STREAM_PIECE) return next;
    const napi_value members[] = {
        number_value(env, found.status), text_value(env, found.content_type),
        bytes_value(env, std::as_bytes(std::span(found.bytes, found.count)))};
    part = array_value(env, members);
    return next;
  }
  Result<napi_value> result(napi_env env) override { return undefined_value(env); }
  void cancel_handle() override { tokamak_call_cancel(call_); }
  void free_handle() override { tokamak_call_free(std::exchange(call_, nullptr)); }

  tokamak_call* call_;
};

}  // namespace

/// call(model, path, body, onPart, onEnd); a `body` of "" is none.
napi_value call(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string path = in.text(1, "path");
  const std::string body = in.text(2, "body");
  if (in.has_failed()) return in.raise();
  ErrorSlot error;
  tokamak_call* made = tokamak_model_call(in.model().get(), path.c_str(),
                                          body.empty() ? nullptr : body.c_str(), error);
  if (made == nullptr) return throw_failure(env, error.failure().error());
  return begun(
      env, std::make_shared<AnswerFlow>(Addon::of(env), in.model(), in.kept(3), in.kept(4), made));
}

}  // namespace tokamak::node
