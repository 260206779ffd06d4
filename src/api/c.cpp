#include "tokamak/c.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "api/c_answers.h"
#include "base/json.h"

using namespace tokamak;

struct tokamak_options {
  ModelOptions options;
};

namespace {

static_assert(int(TOKAMAK_CANCELLED) == int(ErrorCode::kCancelled));
static_assert(int(TOKAMAK_LOAD_KERNELS) == int(LoadPhase::kKernels));

/// The error of give() where there is no memory for another.
tokamak_error no_memory{{ErrorCode::kOutOfMemory, "Out of memory."}};

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

namespace tokamak {

void give(tokamak_error** error, Error found) noexcept {
  if (error == nullptr) return;
  auto* own = new (std::nothrow) tokamak_error{std::move(found)};
  *error = own == nullptr ? &no_memory : own;
}

Result<void*> copy_of(const void* bytes, size_t count) {
  void* copy = std::malloc(std::max<size_t>(count, 1));
  if (copy == nullptr) return fail(ErrorCode::kOutOfMemory, "Out of memory.");
  if (count > 0) std::memcpy(copy, bytes, count);
  return copy;
}

Result<char*> text_for_caller(const std::string& text) {
  TOK_TRY(void* const copy, copy_of(text.c_str(), text.size() + 1));
  return static_cast<char*>(copy);
}

}  // namespace tokamak

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
  if (error != &no_memory) delete error;
}

void tokamak_text_free(char* text) {
  std::free(text);
}

void tokamak_ids_free(uint32_t* ids) {
  std::free(ids);
}

tokamak_options* tokamak_options_new(void) {
  return made<tokamak_options>();
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
    return progress(user, tokamak_load_phase(phase), done, total);
  };
}

void tokamak_options_on_notice(tokamak_options* options, tokamak_notice notice, void* user) {
  options->options.notice = nullptr;
  if (notice == nullptr) return;
  options->options.notice = [=](std::string_view text) { notice(user, std::string(text).c_str()); };
}

tokamak_model* tokamak_model_open(const tokamak_options* options, tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_model*> {
    TOK_TRY(Model model, Model::open(options == nullptr ? ModelOptions() : options->options));
    std::string details = details_text(model.details());
    return new tokamak_model{std::move(model), std::move(details)};
  });
}

void tokamak_model_close(tokamak_model* model) {
  is_done(nullptr, [&]() -> Result<void> {
    model->model.close();
    return {};
  });
}

void tokamak_model_free(tokamak_model* model) {
  delete model;
}

bool tokamak_model_pump(tokamak_model* model) {
  return value_or_error(nullptr, [&]() -> Result<bool> { return model->model.pump(); });
}

const char* tokamak_model_details(const tokamak_model* model) {
  return model->details.c_str();
}

uint32_t* tokamak_model_tokenize(const tokamak_model* model, const char* text, bool add_special,
                                 size_t* count, tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<uint32_t*> {
    TOK_TRY(const std::vector<uint32_t> ids,
            model->model.tokenize(text_or_empty(text), add_special));
    TOK_TRY(void* const copy, copy_of(ids.data(), ids.size() * sizeof(uint32_t)));
    *count = ids.size();
    return static_cast<uint32_t*>(copy);
  });
}

char* tokamak_model_detokenize(const tokamak_model* model, const uint32_t* ids, size_t count,
                               tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<char*> {
    TOK_TRY(const std::string text, model->model.detokenize({ids, count}));
    return text_for_caller(text);
  });
}

char* tokamak_model_render_chat(const tokamak_model* model, const char* variables,
                                tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<char*> {
    TOK_TRY(const std::string text, model->model.render_chat(text_or_empty(variables)));
    return text_for_caller(text);
  });
}
