// Requests for text and the streams that answer them.
#include <cmath>
#include <utility>

#include "begin_flow.h"
#include "texts.h"

namespace tokamak::node {
namespace {

napi_value pair_value(napi_env env, const tokamak_token_logprob& pair) {
  napi_value object = nullptr;
  napi_create_object(env, &object);
  set_member(env, object, "id", number_value(env, pair.id));
  set_member(env, object, "logprob", number_value(env, double{pair.logprob}));
  return object;
}

/// A token with the most probable ones in its place; a logarithm of -inf fills places where fewer
/// can come.
napi_value logprob_value(napi_env env, const tokamak_token_logprob& chosen,
                         std::span<const tokamak_token_logprob> top) {
  const napi_value object = pair_value(env, chosen);
  std::vector<napi_value> members;
  for (const auto& pair : top) {
    if (pair.logprob != -INFINITY) members.push_back(pair_value(env, pair));
  }
  set_member(env, object, "top", array_value(env, members));
  return object;
}

napi_value numbers_value(napi_env env, const uint32_t* ids, size_t count) {
  std::vector<napi_value> members;
  for (size_t i = 0; i < count; ++i) members.push_back(number_value(env, ids[i]));
  return array_value(env, members);
}

napi_value piece_value(napi_env env, const tokamak_piece& piece) {
  napi_value object = nullptr;
  napi_create_object(env, &object);
  set_member(env, object, "text", text_value(env, {piece.text, piece.text_bytes}));
  set_member(env, object, "ids", numbers_value(env, piece.ids, piece.count));
  if (piece.reasoning_bytes > 0) {
    set_member(env, object, "reasoning", text_value(env, {piece.reasoning, piece.reasoning_bytes}));
  }
  if (piece.logprobs == nullptr) return object;
  std::vector<napi_value> members;
  for (size_t i = 0; i < piece.count; ++i) {
    const auto* top = piece.top == nullptr ? nullptr : piece.top + i * piece.top_count;
    members.push_back(logprob_value(env, {piece.ids[i], piece.logprobs[i]},
                                    {top, top == nullptr ? 0 : piece.top_count}));
  }
  set_member(env, object, "logprobs", array_value(env, members));
  return object;
}

napi_value result_value(napi_env env, const tokamak_result& result) {
  napi_value object = nullptr;
  napi_create_object(env, &object);
  const auto number = [&](const char* name, auto value) {
    set_member(env, object, name, number_value(env, static_cast<double>(value)));
  };
  set_member(env, object, "text", text_value(env, {result.text, result.text_bytes}));
  set_member(env, object, "ids", numbers_value(env, result.ids, result.count));
  number("tokens", result.count);
  set_member(env, object, "finish", text_value(env, result.finish));
  set_member(env, object, "stop", text_value(env, result.stop));
  number("seed", result.seed);
  number("promptTokens", result.prompt_tokens);
  number("cachedTokens", result.cached_tokens);
  number("prefillSeconds", result.prefill_seconds);
  number("decodeSeconds", result.decode_seconds);
  if (result.reasoning_bytes > 0) {
    set_member(env, object, "reasoning",
               text_value(env, {result.reasoning, result.reasoning_bytes}));
  }
  if (result.prompt_logprobs == nullptr) return object;
  std::vector<napi_value> members;
  for (size_t i = 0; i < result.prompt_logprob_count; ++i) {
    const auto* top =
        result.prompt_top == nullptr ? nullptr : result.prompt_top + i * result.prompt_top_count;
    members.push_back(logprob_value(env, result.prompt_logprobs[i],
                                    {top, top == nullptr ? 0 : result.prompt_top_count}));
  }
  set_member(env, object, "promptLogprobs", array_value(env, members));
  return object;
}

class TextFlow final : public Flow {
 public:
  TextFlow(std::shared_ptr<Addon> addon, std::shared_ptr<tokamak_model> model, Kept part, Kept end,
           std::shared_ptr<tokamak_stream> stream)
      : Flow(std::move(addon), std::move(model), std::move(part), std::move(end)),
        stream_(std::move(stream)) {}

 private:
  void on_ready(tokamak_ready ready, void* user) override {
    tokamak_stream_on_ready(stream_.get(), ready, user);
  }
  tokamak_next take(napi_env env, napi_value& part) override {
    tokamak_piece piece{.size = sizeof(tokamak_piece)};
    const tokamak_next next = tokamak_stream_next(stream_.get(), 0, &piece);
    if (next == TOKAMAK_STREAM_PIECE) part = piece_value(env, piece);
    return next;
  }
  Result<napi_value> result(napi_env env) override {
    ErrorSlot error;
    tokamak_result result{.size = sizeof(tokamak_result)};
    if (!tokamak_stream_result(stream_.get(), &result, error)) return error.failure();
    return result_value(env, result);
  }
  void cancel_handle() override { tokamak_stream_cancel(stream_.get()); }
  void free_handle() override { stream_.reset(); }

  std::shared_ptr<tokamak_stream> stream_;  // until the end
};

Result<void> add_message(tokamak_request* request, const std::string& role,
                         const std::string& content) {
  ErrorSlot error;
  if (!tokamak_request_add_message(request, role.c_str(), content.c_str(), error)) {
    return error.failure();
  }
  return {};
}

Result<void> add_images(tokamak_request* request, napi_env env, napi_value images) {
  uint32_t count = 0;
  napi_get_array_length(env, images, &count);
  for (uint32_t i = 0; i < count; ++i) {
    napi_value image = nullptr;
    void* bytes = nullptr;
    size_t size = 0;
    napi_get_element(env, images, i, &image);
    if (napi_get_typedarray_info(env, image, nullptr, &size, &bytes, nullptr, nullptr) != napi_ok) {
      return std::unexpected(Failure{TOKAMAK_USAGE, "An image is no Uint8Array."});
    }
    ErrorSlot error;
    if (!tokamak_request_add_image(request, bytes, size, error)) return error.failure();
  }
  return {};
}

/// Adds the messages, of which each is [role, content, images].
Result<void> add_messages(tokamak_request* request, napi_env env, Arguments& in, size_t index) {
  for (uint32_t i = 0; i < in.length(index); ++i) {
    const napi_value message = in.member(index, i);
    napi_value members[3] = {};
    for (uint32_t part = 0; part < 3; ++part) napi_get_element(env, message, part, &members[part]);
    const std::string role = in.text_of(members[0], "role");
    auto added = add_message(request, role, in.text_of(members[1], "content"));
    if (added) added = add_images(request, env, members[2]);
    if (!added) return added;
  }
  return {};
}

Result<std::shared_ptr<tokamak_request>> request_of(napi_env env, ModelArguments& in,
                                                    const std::vector<std::string>& options) {
  const std::shared_ptr<tokamak_request> request(tokamak_request_new(), tokamak_request_free);
  auto done = set_all(tokamak_request_set, request.get(), options);
  const auto ids = in.ids(2, "ids");
  ErrorSlot error;
  if (done && !ids.empty() &&
      !tokamak_request_set_ids(request.get(), ids.data(), ids.size(), error)) {
    return error.failure();
  }
  if (done) done = add_messages(request.get(), env, in, 3);
  if (!done) return std::unexpected(done.error());
  return request;
}

using Stream = std::shared_ptr<tokamak_stream>;

Result<Stream> start_stream(tokamak_model* model, const tokamak_request* request) {
  ErrorSlot error;
  tokamak_stream* stream = tokamak_model_start(model, request, error);
  if (stream == nullptr) return error.failure();
  return Stream(stream, tokamak_stream_free);
}

}  // namespace

/// start(model, options, ids, messages, onPiece, onEnd, isLong): a flow; a promise of it where the
/// request is a long one, which another thread prepares.
napi_value start(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const auto options = in.options(1);
  if (in.has_failed()) return in.raise();
  const auto request = request_of(env, in, options);
  if (in.has_failed()) return in.raise();
  if (!request) return throw_failure(env, request.error());
  return begin_flow<TextFlow>(env, in, 4, "tokamak.start",
                              [model = in.model(), request = *request] {
                                return start_stream(model.get(), request.get());
                              });
}

}  // namespace tokamak::node
