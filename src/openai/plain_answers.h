// Requests that are answered at once, without the scheduler.
#pragma once
#include "engine/engine.h"
#include "openai/chat_form.h"

namespace tokamak::openai {

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

}  // namespace tokamak::openai
