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

struct tokamak_logits_options {
  LogitsOptions options;
};

struct tokamak_vectors {
  std::vector<float> numbers;
  size_t rows = 0, dimensions = 0;
};

struct tokamak_sparse_vectors {
  std::vector<std::vector<tokamak_token_weight>> vectors;
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
    auto made = std::make_unique<tokamak_vectors>();
    made->rows = vectors.size();
    made->dimensions = vectors.empty() ? 0 : vectors.front().size();
    made->numbers.reserve(made->rows * made->dimensions);
    for (const std::vector<float>& one : vectors) {
      made->numbers.insert(made->numbers.end(), one.begin(), one.end());
    }
    return made.release();
  });
}

const float* tokamak_vectors_at(const tokamak_vectors* vectors, size_t index, size_t* dimensions) {
  *dimensions = 0;
  if (index >= vectors->rows) return nullptr;
  *dimensions = vectors->dimensions;
  return vectors->numbers.data() + index * vectors->dimensions;
}

const float* tokamak_vectors_data(const tokamak_vectors* vectors, size_t* rows,
                                  size_t* dimensions) {
  *rows = vectors->rows;
  *dimensions = vectors->dimensions;
  return vectors->numbers.data();
}

void tokamak_vectors_free(tokamak_vectors* vectors) {
  delete vectors;
}

tokamak_sparse_vectors* tokamak_model_embed_sparse(tokamak_model* model, const char* const* texts,
                                                   size_t count,
                                                   const tokamak_embed_options* options,
                                                   tokamak_error** error) {
  return value_or_error(error, [&]() -> Result<tokamak_sparse_vectors*> {
    const std::vector<std::string> own(texts, texts + count);
    TOK_TRY(const auto vectors,
            model->model.embed_sparse(own, options == nullptr ? EmbedOptions() : options->options));
    auto made = std::make_unique<tokamak_sparse_vectors>();
    for (const SparseVector& one : vectors) {
      auto& tokens = made->vectors.emplace_back();
      for (const TokenWeight& token : one) tokens.push_back({token.id, token.weight});
    }
    return made.release();
  });
}

const tokamak_token_weight* tokamak_sparse_vectors_at(const tokamak_sparse_vectors* vectors,
                                                      size_t index, size_t* count) {
  *count = 0;
  if (index >= vectors->vectors.size()) return nullptr;
  const auto& tokens = vectors->vectors[index];
  *count = tokens.size();
  return tokens.data();
}

void tokamak_sparse_vectors_free(tokamak_sparse_vectors* vectors) {
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

tokamak_logits_options* tokamak_logits_options_new(void) {
  return made<tokamak_logits_options>();
}

void tokamak_logits_options_free(tokamak_logits_options* options) {
  delete options;
}

bool tokamak_logits_options_set(tokamak_logits_options* options, const char* name,
                                const char* value, tokamak_error** error) {
  return set_option(options->options, name, value, error);
}

void tokamak_logits_options_on_step(tokamak_logits_options* options, tokamak_cancelled cancelled,
                                    void* user) {
  options->options.cancelled = call_of(cancelled, user);
}

bool tokamak_model_logits(tokamak_model* model, const uint32_t* ids, size_t count,
                          const tokamak_logits_options* options, float* logits, size_t numbers,
                          tokamak_error** error) {
  return is_done(error, [&]() -> Result<void> {
    const LogitsOptions own = options == nullptr ? LogitsOptions() : options->options;
    const size_t rows = own.all ? count : 1, vocab = model->model.details().vocabulary;
    if (numbers != rows * vocab) {
      return fail(ErrorCode::kUsage, "There is room for {} logits, expected {}: {} rows of {}.",
                  numbers, rows * vocab, rows, vocab);
    }
    TOK_TRY(const std::vector<float> found, model->model.logits({ids, count}, own));
    std::ranges::copy(found, logits);
    return {};
  });
}
