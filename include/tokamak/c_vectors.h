/* The C interface to vectors of texts, scores of documents and logits of tokens; c.h describes
 * handles, options and errors. */
#pragma once
#include "tokamak/c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tokamak_embed_options tokamak_embed_options;
typedef struct tokamak_rerank_options tokamak_rerank_options;
typedef struct tokamak_logits_options tokamak_logits_options;
typedef struct tokamak_vectors tokamak_vectors;
typedef struct tokamak_sparse_vectors tokamak_sparse_vectors;
/* A token of a text, and how much it counts when words are matched. */
typedef struct {
  uint32_t id;
  float weight;
} tokamak_token_weight;

TOKAMAK_API tokamak_embed_options* tokamak_embed_options_new(void);
TOKAMAK_API void tokamak_embed_options_free(tokamak_embed_options* options);
/* Names: prompt, dimensions, normalize, truncate; tokamak/embedding.h describes them. */
TOKAMAK_API bool tokamak_embed_options_set(tokamak_embed_options* options, const char* name,
                                           const char* value, tokamak_error** error);
/* Called between the steps of a call, by the model's thread. */
TOKAMAK_API void tokamak_embed_options_on_step(tokamak_embed_options* options,
                                               tokamak_cancelled cancelled, void* user);
/* One vector per text; blocks. `options` may be NULL. */
TOKAMAK_API tokamak_vectors* tokamak_model_embed(tokamak_model* model, const char* const* texts,
                                                 size_t count, const tokamak_embed_options* options,
                                                 tokamak_error** error);
/* Vector `index`, and how many numbers it has. */
TOKAMAK_API const float* tokamak_vectors_at(const tokamak_vectors* vectors, size_t index,
                                            size_t* dimensions);
/* All of them as one block: `rows` vectors of `dimensions` numbers, one after the other. */
TOKAMAK_API const float* tokamak_vectors_data(const tokamak_vectors* vectors, size_t* rows,
                                              size_t* dimensions);
TOKAMAK_API void tokamak_vectors_free(tokamak_vectors* vectors);

/* The sparse vector of each text, of models that make one, as BGE-M3 does; blocks. `options` may be
 * NULL. */
TOKAMAK_API tokamak_sparse_vectors* tokamak_model_embed_sparse(tokamak_model* model,
                                                               const char* const* texts,
                                                               size_t count,
                                                               const tokamak_embed_options* options,
                                                               tokamak_error** error);
/* The tokens of vector `index` in the order of their ids, and how many there are. */
TOKAMAK_API const tokamak_token_weight* tokamak_sparse_vectors_at(
    const tokamak_sparse_vectors* vectors, size_t index, size_t* count);
TOKAMAK_API void tokamak_sparse_vectors_free(tokamak_sparse_vectors* vectors);

TOKAMAK_API tokamak_rerank_options* tokamak_rerank_options_new(void);
TOKAMAK_API void tokamak_rerank_options_free(tokamak_rerank_options* options);
/* Names: instruction, truncate; tokamak/ranking.h describes them. */
TOKAMAK_API bool tokamak_rerank_options_set(tokamak_rerank_options* options, const char* name,
                                            const char* value, tokamak_error** error);
/* Called between the steps of a call, by the model's thread. */
TOKAMAK_API void tokamak_rerank_options_on_step(tokamak_rerank_options* options,
                                                tokamak_cancelled cancelled, void* user);
/* Writes `count` scores, one for each document: how well it answers the query, more is better;
 * blocks. `options` may be NULL. */
TOKAMAK_API bool tokamak_model_rerank(tokamak_model* model, const char* query,
                                      const char* const* documents, size_t count,
                                      const tokamak_rerank_options* options, float* scores,
                                      tokamak_error** error);

TOKAMAK_API tokamak_logits_options* tokamak_logits_options_new(void);
TOKAMAK_API void tokamak_logits_options_free(tokamak_logits_options* options);
/* Names: all, adapter; tokamak/logits.h describes them. */
TOKAMAK_API bool tokamak_logits_options_set(tokamak_logits_options* options, const char* name,
                                            const char* value, tokamak_error** error);
/* Called between the steps of a call, by the model's thread. */
TOKAMAK_API void tokamak_logits_options_on_step(tokamak_logits_options* options,
                                                tokamak_cancelled cancelled, void* user);
/* Writes the logits after the last of some tokens, or with `all` after each of them, row by row;
 * blocks. `numbers`: how many `logits` has room for: those of the vocabulary (see
 * tokamak_model_details()), for every row; another number is an error. `options` may be NULL. */
TOKAMAK_API bool tokamak_model_logits(tokamak_model* model, const uint32_t* ids, size_t count,
                                      const tokamak_logits_options* options, float* logits,
                                      size_t numbers, tokamak_error** error);

#ifdef __cplusplus
}
#endif
