// Vectors of texts, scores of documents and logits of tokens.
#include "model.h"
#include "tokamak/c_vectors.h"

namespace tokamak::node {

/// embed(model, texts, options, cancellation): the vectors as one block.
napi_value embed(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const auto texts = in.texts(1, "text");
  const auto pairs = in.options(2);
  const auto cancellation = in.handle<Cancellation>(3, "cancellation");
  if (in.has_failed()) return in.raise();
  return promise_of(
      env, "tokamak.embed", [model = in.model(), texts, pairs, cancellation]() -> Result<Finish> {
        const Owned<tokamak_embed_options, tokamak_embed_options_free> options(
            tokamak_embed_options_new());
        if (auto set = set_all(tokamak_embed_options_set, options.get(), pairs); !set) {
          return std::unexpected(set.error());
        }
        tokamak_embed_options_on_step(options.get(), Cancellation::ask, cancellation.get());
        ErrorSlot error;
        const std::shared_ptr<tokamak_vectors> vectors(
            tokamak_model_embed(model.get(), pointers_to(texts).data(), texts.size(), options.get(),
                                error),
            tokamak_vectors_free);
        if (vectors == nullptr) return error.failure();
        return [vectors](napi_env later) {
          size_t rows = 0;
          size_t columns = 0;
          const float* numbers = tokamak_vectors_data(vectors.get(), &rows, &columns);
          return floats_value(later, {numbers, rows * columns});
        };
      });
}

/// rerank(model, query, documents, options, cancellation): a score for each document.
napi_value rerank(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string query = in.text(1, "query");
  const auto documents = in.texts(2, "document");
  const auto pairs = in.options(3);
  const auto cancellation = in.handle<Cancellation>(4, "cancellation");
  if (in.has_failed()) return in.raise();
  return promise_of(
      env, "tokamak.rerank",
      [model = in.model(), query, documents, pairs, cancellation]() -> Result<Finish> {
        const Owned<tokamak_rerank_options, tokamak_rerank_options_free> options(
            tokamak_rerank_options_new());
        if (auto set = set_all(tokamak_rerank_options_set, options.get(), pairs); !set) {
          return std::unexpected(set.error());
        }
        tokamak_rerank_options_on_step(options.get(), Cancellation::ask, cancellation.get());
        ErrorSlot error;
        std::vector<float> found(documents.size());
        if (!tokamak_model_rerank(model.get(), query.c_str(), pointers_to(documents).data(),
                                  documents.size(), options.get(), found.data(), error)) {
          return error.failure();
        }
        return [found](napi_env later) { return floats_value(later, found); };
      });
}

/// logits(model, ids, numbers, options, cancellation): fills the array `numbers`, which nothing
/// else touches meanwhile.
napi_value logits(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const auto given = in.ids(1, "ids");
  const Kept array = in.kept(2);
  const auto pairs = in.options(3);
  const auto cancellation = in.handle<Cancellation>(4, "cancellation");
  const std::vector<uint32_t> ids(given.begin(), given.end());
  // The array's memory, written by another thread.
  const auto numbers = in.floats(2, "numbers");
  float* memory = const_cast<float*>(numbers.data());
  if (in.has_failed()) return in.raise();
  return promise_of(
      env, "tokamak.logits",
      [model = in.model(), ids, array, memory, count = numbers.size(), pairs,
       cancellation]() -> Result<Finish> {
        const Owned<tokamak_logits_options, tokamak_logits_options_free> options(
            tokamak_logits_options_new());
        if (auto set = set_all(tokamak_logits_options_set, options.get(), pairs); !set) {
          return std::unexpected(set.error());
        }
        tokamak_logits_options_on_step(options.get(), Cancellation::ask, cancellation.get());
        ErrorSlot error;
        if (!tokamak_model_logits(model.get(), ids.data(), ids.size(), options.get(), memory, count,
                                  error)) {
          return error.failure();
        }
        return [array](napi_env later) { return array.value(later); };
      });
}

}  // namespace tokamak::node
