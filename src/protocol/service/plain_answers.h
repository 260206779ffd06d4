// Requests that are answered at once, without the scheduler.
#pragma once
#include "engine/engine.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {

/// {"tokens": [...]}
Answer<Json> tokenize(const Engine& engine, std::string_view body);
/// {"content": ...}
Answer<Json> detokenize(const Engine& engine, std::string_view body);
/// {"prompt": ...}: the text that a chat request would be.
Answer<Json> apply_template(const Engine& engine, std::string_view body, const ChatForm& chat);
/// {"input_tokens": ...}: of a chat request's prompt.
Answer<Json> count_tokens(const Engine& engine, const Fields& fields, const ChatForm& chat);

}  // namespace tokamak::protocol
