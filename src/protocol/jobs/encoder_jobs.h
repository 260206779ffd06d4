// Requests for numbers about texts: embeddings, whose tokens are made at once, by any thread, and
// rankings. The model runs on some of the texts in each step.
#pragma once
#include "engine/engine.h"
#include "protocol/jobs/job.h"
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// An embedding of each text, in the shape of `endpoint`; the answer calls the model `model`.
/// `engine` outlives the job. Errors: what is wrong with the fields, a model that makes none.
Answer<std::unique_ptr<Job>> make_embedding_job(Engine& engine, const Fields& fields,
                                                std::string_view model, Endpoint endpoint);

/// The weights of each text's tokens, in the shape of text-embeddings-inference's embed_sparse. The
/// same holds.
Answer<std::unique_ptr<Job>> make_sparse_job(Engine& engine, const Fields& fields);

/// Documents in the order of how they answer a query, in the shape of Jina's and Cohere's answers.
/// The same holds.
Answer<std::unique_ptr<Job>> make_ranking_job(Engine& engine, const Fields& fields,
                                              std::string_view model);

/// Most tokens of the texts of a step: a few steps of the device.
size_t tokens_of_step(const Engine& engine);

}  // namespace tokamak::protocol
