// The conversation of a chat request, checked and as chat templates read it.
#pragma once
#include "openai/fields.h"

namespace tokamak::openai {

/// What the chat template gets: messages, tools, add_generation_prompt, and the members of
/// chat_template_kwargs. Contents in parts become one text, a line for each; "developer" becomes
/// "system"; arguments of earlier calls that are JSON are no longer a text.
/// Errors say which message and which part of it is wrong.
///
/// Special tokens that a message spells are special to the model, too: the template's text and the
/// messages' are one text when they are tokenized, as in transformers. Telling them apart needs a
/// template engine that knows where each piece of its output came from.
Answer<Json> chat_variables(const Fields& fields);

}  // namespace tokamak::openai
