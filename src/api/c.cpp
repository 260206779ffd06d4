#include "tokamak/c.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "api/settings.h"
#include "base/json.h"

using namespace tokamak;

struct tokamak_error {
  Error error;
};

struct tokamak_options {
  ModelOptions options;
};

struct tokamak_model {
  Model model;
  std::string details;
};

struct tokamak_request {
  TextRequest request;
};

struct tokamak_stream {
  Stream stream;
  // What the last piece and the result point to.
  std::string text;
  std::vector<uint32_t> ids;
  std::vector<float> logprobs;
  std::optional<Generation> result;
};

struct tokamak_vectors {
  std::vector<std::vector<float>> vectors;
};

namespace {

static_assert(int(TOKAMAK_CANCELLED) == int(ErrorCode::kCancelled));

void give(tokamak_error** error, Error found) {
  if (error != nullptr) *error = new tokamak_error{std::move(found)};
}

/// Memory of malloc() with a copy of those values.
template <typename T>
T* copy_of(const T* values, size_t count) {
  auto* copy = static_cast<T*>(std::malloc(std::max<size_t>(count, 1) * sizeof(T)));
  if (copy == nullptr) std::abort();
  if (count > 0) std::memcpy(copy, values, count * sizeof(T));
  return copy;
}

char* given_text(const Result<std::string>& text, tokamak_error** error) {
  if (text) return copy_of(text->c_str(), text->size() + 1);
  give(error, text.error());
  return nullptr;
}

std::string_view text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

template <typename Options>
bool set_option(Options& options, const char* name, const char* value, tokamak_error** error) {
  const auto set = set_by_name(options, text_or_empty(name), text_or_empty(value));
  if (!set) give(error, set.error());
  return set.has_value();
}

bool add_image(TextRequest& request, ChatImage image, tokamak_error** error) {
  if (!request.messages.empty()) {
    request.messages.back().images.push_back(std::move(image));
    return true;
  }
  give(error, {ErrorCode::kUsage, "There is no message yet that the image could belong to."});
  return false;
}

std::string details_text(const ModelDetails& details) {
  Json::Array prompts(details.embed_prompts.begin(), details.embed_prompts.end());
  Json out;
  out.set("name", details.name);
  out.set("architecture", details.architecture);
  out.set("device", details.device);
  out.set("context", details.context);
  out.set("sequences", details.sequences);
  out.set("vocabulary", details.vocabulary);
  out.set("dimensions", details.dimensions);
  out.set("embed_prompts", std::move(prompts));
  out.set("device_bytes", details.device_bytes);
  return out.dump();
}

}  // namespace

const char* tokamak_version(void) {
  return TOKAMAK_VERSION;
}

tokamak_error_code tokamak_error_get_code(const tokamak_error* error) {
  return tokamak_error_code(error->error.code);
}

const char* tokamak_error_message(const tokamak_error* error) {
  return error->error.message.c_str();
}

void tokamak_error_free(tokamak_error* error) {
  delete error;
}

void tokamak_text_free(char* text) {
  std::free(text);
}

void tokamak_ids_free(uint32_t* ids) {
  std::free(ids);
}

tokamak_options* tokamak_options_new(void) {
  return new tokamak_options;
}

void tokamak_options_free(tokamak_options* options) {
  delete options;
}

bool tokamak_options_set(tokamak_options* options, const char* name, const char* value,
                         tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

void tokamak_options_on_progress(tokamak_options* options, tokamak_progress progress, void* user) {
  options->options.progress = nullptr;
  if (progress == nullptr) return;
  options->options.progress = [=](LoadPhase phase, uint64_t done, uint64_t total) {
    return progress(user, int(phase), done, total);
  };
}

void tokamak_options_on_notice(tokamak_options* options, tokamak_notice notice, void* user) {
  options->options.notice = nullptr;
  if (notice == nullptr) return;
  options->options.notice = [=](std::string_view text) { notice(user, std::string(text).c_str()); };
}

tokamak_model* tokamak_model_open(const tokamak_options* options, tokamak_error** error) {
  auto model = Model::open(options == nullptr ? ModelOptions() : options->options);
  if (!model) {
    give(error, std::move(model).error());
    return nullptr;
  }
  std::string details = details_text(model->details());
  return new tokamak_model{*std::move(model), std::move(details)};
}

void tokamak_model_close(tokamak_model* model) {
  model->model.close();
}

void tokamak_model_free(tokamak_model* model) {
  delete model;
}

bool tokamak_model_pump(tokamak_model* model) {
  return model->model.pump();
}

const char* tokamak_model_details(const tokamak_model* model) {
  return model->details.c_str();
}

uint32_t* tokamak_model_tokenize(const tokamak_model* model, const char* text, bool add_special,
                                 size_t* count, tokamak_error** error) {
  const auto ids = model->model.tokenize(text_or_empty(text), add_special);
  if (!ids) {
    give(error, ids.error());
    return nullptr;
  }
  *count = ids->size();
  return copy_of(ids->data(), ids->size());
}

char* tokamak_model_detokenize(const tokamak_model* model, const uint32_t* ids, size_t count,
                               tokamak_error** error) {
  return given_text(model->model.detokenize({ids, count}), error);
}

char* tokamak_model_render_chat(const tokamak_model* model, const char* variables,
                                tokamak_error** error) {
  return given_text(model->model.render_chat(text_or_empty(variables)), error);
}

tokamak_request* tokamak_request_new(void) {
  return new tokamak_request;
}

void tokamak_request_free(tokamak_request* request) {
  delete request;
}

bool tokamak_request_set(tokamak_request* request, const char* name, const char* value,
                         tokamak_error** error) {
  return set_option(request->request, name, value, error);
}

void tokamak_request_set_ids(tokamak_request* request, const uint32_t* ids, size_t count) {
  request->request.ids.assign(ids, ids + count);
}

void tokamak_request_add_message(tokamak_request* request, const char* role, const char* content) {
  request->request.messages.push_back(
      {std::string(text_or_empty(role)), std::string(text_or_empty(content))});
}

bool tokamak_request_add_image(tokamak_request* request, const void* bytes, size_t count,
                               tokamak_error** error) {
  const auto* first = static_cast<const std::byte*>(bytes);
  return add_image(request->request, {.path = {}, .bytes = {first, first + count}}, error);
}

bool tokamak_request_add_image_file(tokamak_request* request, const char* path,
                                    tokamak_error** error) {
  return add_image(request->request, {.path = std::string(text_or_empty(path))}, error);
}

tokamak_stream* tokamak_model_start(tokamak_model* model, const tokamak_request* request,
                                    tokamak_error** error) {
  auto stream = model->model.start(request->request);
  if (stream) return new tokamak_stream{.stream = *std::move(stream)};
  give(error, std::move(stream).error());
  return nullptr;
}

void tokamak_stream_free(tokamak_stream* stream) {
  delete stream;
}

void tokamak_stream_cancel(tokamak_stream* stream) {
  stream->stream.cancel();
}

tokamak_next tokamak_stream_next(tokamak_stream* stream, double timeout, tokamak_piece* piece) {
  constexpr double kMaxSeconds = 1e9;  // which nanoseconds can hold
  const bool is_limited = timeout >= 0;
  const auto limit =
      std::chrono::nanoseconds(is_limited ? int64_t(std::min(timeout, kMaxSeconds) * 1e9) : 0);
  auto next = is_limited ? stream->stream.next(limit) : stream->stream.next();
  if (!next) return stream->stream.ended() ? TOKAMAK_STREAM_END : TOKAMAK_STREAM_TIMEOUT;
  stream->text = std::move(next->text);
  stream->ids.clear();
  stream->logprobs.clear();
  for (const TextPiece::Token& token : next->tokens) {
    stream->ids.push_back(token.id);
    if (token.logprobs) stream->logprobs.push_back(token.logprobs->chosen.logprob);
  }
  *piece = {.text = stream->text.c_str(),
            .text_bytes = stream->text.size(),
            .ids = stream->ids.data(),
            .logprobs = stream->logprobs.empty() ? nullptr : stream->logprobs.data(),
            .count = stream->ids.size()};
  return TOKAMAK_STREAM_PIECE;
}

bool tokamak_stream_result(tokamak_stream* stream, tokamak_result* result, tokamak_error** error) {
  auto found = stream->stream.result();
  if (!found) {
    give(error, std::move(found).error());
    return false;
  }
  const Generation& own = stream->result.emplace(*std::move(found));
  const tokamak_result whole = {.size = std::min(result->size, sizeof(tokamak_result)),
                                .text = own.text.c_str(),
                                .text_bytes = own.text.size(),
                                .ids = own.ids.data(),
                                .count = own.ids.size(),
                                .finish = finish_name(own.finish).data(),
                                .stop = own.stop.c_str(),
                                .seed = own.seed,
                                .prompt_tokens = own.prompt_tokens,
                                .cached_tokens = own.cached_tokens,
                                .prefill_seconds = own.prefill_seconds,
                                .decode_seconds = own.decode_seconds};
  std::memcpy(result, &whole, whole.size);
  return true;
}

tokamak_vectors* tokamak_model_embed(tokamak_model* model, const char* const* texts, size_t count,
                                     const char* prompt, uint32_t dimensions, bool truncate,
                                     tokamak_error** error) {
  EmbedOptions options{.dimensions = dimensions, .truncate = truncate};
  if (prompt != nullptr) options.prompt = prompt;
  auto vectors = model->model.embed(std::vector<std::string>(texts, texts + count), options);
  if (vectors) return new tokamak_vectors{*std::move(vectors)};
  give(error, std::move(vectors).error());
  return nullptr;
}

const float* tokamak_vectors_at(const tokamak_vectors* vectors, size_t index, size_t* dimensions) {
  *dimensions = 0;
  if (index >= vectors->vectors.size()) return nullptr;
  const std::vector<float>& vector = vectors->vectors[index];
  *dimensions = vector.size();
  return vector.data();
}

void tokamak_vectors_free(tokamak_vectors* vectors) {
  delete vectors;
}

bool tokamak_model_rerank(tokamak_model* model, const char* query, const char* const* documents,
                          size_t count, bool truncate, float* scores, tokamak_error** error) {
  const RerankOptions options{.truncate = truncate};
  const std::vector<std::string> own(documents, documents + count);
  auto found = model->model.rerank(query, own, options);
  if (!found) {
    give(error, std::move(found).error());
    return false;
  }
  std::ranges::copy(*found, scores);
  return true;
}
