// Requests that are answered at once, without the scheduler.
#pragma once
#include "engine/engine.h"
#include "openai/fields.h"

namespace tokamak::openai {

/// {"tokens": [...]}
Answer<Json> tokenize(const Engine& engine, std::string_view body);
/// {"content": ...}
Answer<Json> detokenize(const Engine& engine, std::string_view body);
/// {"prompt": ...}: the text that a chat request would be.
Answer<Json> apply_template(const Engine& engine, std::string_view body);
/// Runs the model on every text, one after the other. `model`: how the answer calls it.
Answer<Json> embeddings(Engine& engine, const Fields& fields, std::string_view model);

}  // namespace tokamak::openai
