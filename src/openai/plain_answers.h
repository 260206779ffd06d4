// Requests that are answered at once, without the scheduler.
#pragma once
#include "engine/engine.h"
#include "openai/chat_form.h"

namespace tokamak::openai {

/// What a service knows of its model.
struct ModelAbout {
  std::string_view id;
  int64_t created = 0, now = 0;  // unix seconds
};

/// {"tokens": [...]}
Answer<Json> tokenize(const Engine& engine, std::string_view body);
/// {"content": ...}
Answer<Json> detokenize(const Engine& engine, std::string_view body);
/// {"prompt": ...}: the text that a chat request would be.
Answer<Json> apply_template(const Engine& engine, std::string_view body, const ChatForm& chat);
/// {"input_tokens": ...}: of a chat request's prompt.
Answer<Json> count_tokens(const Engine& engine, const Fields& fields, const ChatForm& chat);
/// Runs the model on every text, several at once. `model`: how the answer calls it; `endpoint`:
/// whose shape it has.
Answer<Json> embeddings(Engine& engine, const Fields& fields, std::string_view model,
                        Endpoint endpoint);
/// Documents in the order of how they answer a query, in the shape of Jina's and Cohere's answers.
Answer<Json> rerank(Engine& engine, const Fields& fields, std::string_view model);
/// Model, context, chat template, and how calls and reasoning are read.
Json props(const Engine& engine, const ModelAbout& about, const ChatForm& chat);

// Ollama's lists of models, of which there is one.
Json ollama_tags(const Engine& engine, const ModelAbout& about);
Json ollama_ps(const Engine& engine, const ModelAbout& about);
Json ollama_show(const Engine& engine, const ModelAbout& about, const ChatForm& chat);

}  // namespace tokamak::openai
