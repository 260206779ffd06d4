#include "tokamak/c_vectors.h"

#include <algorithm>

#include "api/c_answers.h"

using namespace tokamak;

struct tokamak_embed_options {
  EmbedOptions options;
};

struct tokamak_rerank_options {
  RerankOptions options;
};

struct tokamak_vectors {
  std::vector<std::vector<float>> vectors;
};

tokamak_embed_options* tokamak_embed_options_new(void) {
  return made<tokamak_embed_options>();
}

void tokamak_embed_options_free(tokamak_embed_options* options) {
  delete options;
}

bool tokamak_embed_options_set(tokamak_embed_options* options, const char* name, const char* value,
                               tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

void tokamak_embed_options_on_step(tokamak_embed_options* options, tokamak_cancelled cancelled,
                                   void* user) {
  options->options.cancelled = call_of(cancelled, user);
}

tokamak_vectors* tokamak_model_embed(tokamak_model* model, const char* const* texts, size_t count,
                                     const tokamak_embed_options* options, tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_vectors*> {
    const std::vector<std::string> own(texts, texts + count);
    TOK_TRY(auto vectors,
            model->model.embed(own, options == nullptr ? EmbedOptions() : options->options));
    return new tokamak_vectors{std::move(vectors)};
  });
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

tokamak_rerank_options* tokamak_rerank_options_new(void) {
  return made<tokamak_rerank_options>();
}

void tokamak_rerank_options_free(tokamak_rerank_options* options) {
  delete options;
}

bool tokamak_rerank_options_set(tokamak_rerank_options* options, const char* name,
                                const char* value, tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

void tokamak_rerank_options_on_step(tokamak_rerank_options* options, tokamak_cancelled cancelled,
                                    void* user) {
  options->options.cancelled = call_of(cancelled, user);
}

bool tokamak_model_rerank(tokamak_model* model, const char* query, const char* const* documents,
                          size_t count, const tokamak_rerank_options* options, float* scores,
                          tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    const std::vector<std::string> own(documents, documents + count);
    TOK_TRY(const std::vector<float> found,
            model->model.rerank(text_or_empty(query), own,
                                options == nullptr ? RerankOptions() : options->options));
    std::ranges::copy(found, scores);
    return {};
  });
}
