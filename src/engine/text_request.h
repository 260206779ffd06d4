// A TextRequest becomes what the scheduler takes.
#pragma once
#include "engine/engine.h"
#include "tokamak/tokamak.h"

namespace tokamak {

struct ChatPrompt {
  std::string text;
  std::vector<uint32_t> ids;
};

/// The prompt that the model's template makes of `variables`. Only the template's own text makes
/// special tokens: those that messages and tools spell are fed as ordinary characters. `instead`: a
/// Jinja text in place of the model's template, where it is not empty.
Result<ChatPrompt> chat_prompt(const Engine& engine, Json variables, std::string_view instead = {});

/// Errors: more than one kind of prompt, a chat that the template refuses, a grammar that is none.
/// Reads only what of an engine does not change. Without a seed it has none.
Result<Request> scheduler_request(const Engine& engine, const TextRequest& asked);

}  // namespace tokamak
