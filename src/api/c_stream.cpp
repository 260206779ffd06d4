// Requests and streams of the C interface.
#include <algorithm>
#include <cmath>

#include "api/c_answers.h"

using namespace tokamak;

struct tokamak_request {
  TextRequest request;
};

struct tokamak_stream {
  Stream stream;
  std::optional<Error> failure;  // of next(), which has no error of its own
  // The targets of the pointers in the last piece and the result.
  std::string text, reasoning;
  std::vector<uint32_t> ids;
  std::vector<float> logprobs;
  std::vector<tokamak_token_logprob> top, prompt_logprobs, prompt_top;
  std::optional<Generation> result;
};

namespace {

bool add_image(TextRequest& request, tokamak_error** error, const auto& image) {
  return is_done(error, [&]() -> Result<void> {
    if (request.messages.empty()) {
      return fail(ErrorCode::kUsage, "There is no message yet that the image could belong to.");
    }
    request.messages.back().images.push_back(image());
    return {};
  });
}

/// Appends the most probable tokens of one place, as many as the first has. Places with fewer,
/// where others cannot come, are filled with ones that are impossible.
void add_top(const std::vector<TokenLogprob>& top, bool is_first, size_t& count,
             std::vector<tokamak_token_logprob>& all) {
  if (is_first) count = top.size();
  for (size_t i = 0; i < count; ++i) {
    const TokenLogprob one = i < top.size() ? top[i] : TokenLogprob{.logprob = -INFINITY};
    all.push_back({one.id, one.logprob});
  }
}

void fill_piece(tokamak_stream& own, const TextPiece& next, tokamak_piece* piece) {
  own.text = next.text;
  own.reasoning = next.reasoning;
  own.ids.clear();
  own.logprobs.clear();
  own.top.clear();
  size_t top_count = 0;
  for (const TextPiece::Token& token : next.tokens) {
    own.ids.push_back(token.id);
    if (!token.logprobs) continue;
    add_top(token.logprobs->top, own.logprobs.empty(), top_count, own.top);
    own.logprobs.push_back(token.logprobs->chosen.logprob);
  }
  fill(piece, {.size = sizeof(tokamak_piece),
               .text = own.text.c_str(),
               .text_bytes = own.text.size(),
               .ids = own.ids.data(),
               .logprobs = own.logprobs.empty() ? nullptr : own.logprobs.data(),
               .count = own.ids.size(),
               .top = own.top.empty() ? nullptr : own.top.data(),
               .top_count = top_count,
               .reasoning = own.reasoning.c_str(),
               .reasoning_bytes = own.reasoning.size()});
}

void fill_result(tokamak_stream& own, tokamak_result* result) {
  const Generation& all = *own.result;
  own.prompt_logprobs.clear();
  own.prompt_top.clear();
  size_t top_count = 0;
  for (const Logprobs& one : all.prompt_logprobs) {
    add_top(one.top, own.prompt_logprobs.empty(), top_count, own.prompt_top);
    own.prompt_logprobs.push_back({one.chosen.id, one.chosen.logprob});
  }
  fill(result,
       {.size = sizeof(tokamak_result),
        .text = all.text.c_str(),
        .text_bytes = all.text.size(),
        .ids = all.ids.data(),
        .count = all.ids.size(),
        .finish = finish_name(all.finish).data(),
        .stop = all.stop.c_str(),
        .seed = all.seed,
        .prompt_tokens = all.prompt_tokens,
        .cached_tokens = all.cached_tokens,
        .prefill_seconds = all.prefill_seconds,
        .decode_seconds = all.decode_seconds,
        .prompt_logprobs = own.prompt_logprobs.empty() ? nullptr : own.prompt_logprobs.data(),
        .prompt_logprob_count = own.prompt_logprobs.size(),
        .prompt_top = own.prompt_top.empty() ? nullptr : own.prompt_top.data(),
        .prompt_top_count = top_count,
        .reasoning = all.reasoning.c_str(),
        .reasoning_bytes = all.reasoning.size()});
}

}  // namespace

tokamak_request* tokamak_request_new(void) {
  return made<tokamak_request>();
}

void tokamak_request_free(tokamak_request* request) {
  delete request;
}

bool tokamak_request_set(tokamak_request* request, const char* name, const char* value,
                         tokamak_error** error) {
  return set_option(request->request, name, value, error);
}

bool tokamak_request_set_ids(tokamak_request* request, const uint32_t* ids, size_t count,
                             tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    request->request.ids.assign(ids, ids + count);
    return {};
  });
}

bool tokamak_request_add_message(tokamak_request* request, const char* role, const char* content,
                                 tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    request->request.messages.push_back(
        {std::string(text_or_empty(role)), std::string(text_or_empty(content))});
    return {};
  });
}

bool tokamak_request_add_image(tokamak_request* request, const void* bytes, size_t count,
                               tokamak_error** error) {
  return add_image(request->request, error, [&] {
    const auto* first = static_cast<const std::byte*>(bytes);
    return ChatImage{.bytes = {first, first + count}};
  });
}

bool tokamak_request_add_image_file(tokamak_request* request, const char* path,
                                    tokamak_error** error) {
  return add_image(request->request, error,
                   [&] { return ChatImage{.path = std::string(text_or_empty(path))}; });
}

tokamak_stream* tokamak_model_start(tokamak_model* model, const tokamak_request* request,
                                    tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_stream*> {
    TOK_TRY(Stream stream, model->model.start(request->request));
    return new tokamak_stream{.stream = std::move(stream)};
  });
}

void tokamak_stream_free(tokamak_stream* stream) {
  delete stream;
}

void tokamak_stream_cancel(tokamak_stream* stream) {
  stream->stream.cancel();
}

void tokamak_stream_on_ready(tokamak_stream* stream, tokamak_ready ready, void* user) {
  set_ready(stream->stream, ready, user);
}

tokamak_next tokamak_stream_next(tokamak_stream* stream, double timeout, tokamak_piece* piece) {
  auto found = guarded([&]() -> Result<tokamak_next> {
    if (stream->failure) return TOKAMAK_STREAM_END;
    const auto next = next_within(stream->stream, timeout);
    if (!next) return stream->stream.ended() ? TOKAMAK_STREAM_END : TOKAMAK_STREAM_TIMEOUT;
    fill_piece(*stream, *next, piece);
    return TOKAMAK_STREAM_PIECE;
  });
  if (found) return *found;
  stream->failure = std::move(found).error();
  return TOKAMAK_STREAM_END;
}

bool tokamak_stream_result(tokamak_stream* stream, tokamak_result* result, tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    if (stream->failure) return Failure(*stream->failure);
    TOK_TRY(stream->result, stream->stream.result());
    fill_result(*stream, result);
    return {};
  });
}
