// Bodies of other protocols become the request that a chat of OpenAI's is.
//
// The rule of all readers for fields (decision 0066): one that changes what is asked is obeyed or
// refused with an error that names it; what changes nothing is ignored; another name or spelling
// of the same, as programs send it, is taken in every protocol.
#pragma once
#include "openai/fields.h"
#include "openai/kept_items.h"

namespace tokamak::openai {

/// The request in a body; in `fields` the conversation, the tools and the form of the answer are as
/// a chat of OpenAI's has them.
struct TextBody {
  Fields fields;
  bool is_chat = true;      // else `prompt` counts
  bool only_loads = false;  // nothing is asked but whether the model is there
};

/// `endpoint`: one that gives texts, kCountTokens or kApplyTemplate. `kept`: finds items of earlier
/// answers; null where none are kept. Errors name the part of the body that is wrong.
Answer<TextBody> read_text_body(std::string_view body, Endpoint endpoint,
                                const FindItem& kept = {});

// By dialect; `fields` as the table has read them.
Answer<void> read_responses(Fields& fields, const FindItem& kept);
Answer<void> read_anthropic(Fields& fields, bool needs_max_tokens);
Answer<void> read_ollama(TextBody& body, Endpoint endpoint);

// For all of them, afterwards.
/// Tools become functions as a chat of OpenAI's has them, and tool_choice a word or such a
/// function.
Answer<void> read_tools(Fields& fields, Endpoint endpoint);
/// Whether the last message is one of the assistant's that the answer continues: in
/// `continue_final_message`. Anthropic's and Ollama's protocols mean it so.
Answer<void> read_continuation(Fields& fields, Endpoint endpoint);
/// Whether the model reasons, and how much: in `enable_thinking` and `reasoning_effort`.
Answer<void> read_thinking(Fields& fields);

/// Whether `include` has reasoning.encrypted_content.
bool has_opaque_reasoning(const Fields& fields);

/// The name that a model sees of a function in a namespace.
std::string name_in_namespace(std::string_view outer, std::string_view inner);

/// The member `name` as a text; an error where it is missing or none.
Answer<std::string> text_member(const Json& object, std::string_view name, std::string_view field,
                                const std::string& where);

// Parts of a chat of OpenAI's.
Json text_part(std::string_view text);
Json message_json(std::string_view role, Json content);
Json call_json(std::string_view id, std::string_view name, Json arguments);
/// To the calls of the last message, where that is an assistant's; else a new message has them.
void add_call(Json::Array& messages, Json call);

}  // namespace tokamak::openai
