// Bodies of other protocols become the request that a chat of OpenAI's is.
#pragma once
#include <functional>

#include "openai/fields.h"

namespace tokamak::openai {

/// What a body asks for; in `fields` the conversation, the tools and the form of the answer are as
/// a chat of OpenAI's has them.
struct TextBody {
  Fields fields;
  bool is_chat = true;      // else `prompt` counts
  bool only_loads = false;  // nothing is asked but whether the model is there
};

/// `endpoint`: one that gives texts, or kCountTokens. Errors say which part of the body is wrong.
Answer<TextBody> read_text_body(std::string_view body, Endpoint endpoint);

// By dialect; `fields` as the table has read them.
Answer<void> read_responses(Fields& fields);
Answer<void> read_anthropic(Fields& fields, bool needs_max_tokens);
Answer<void> read_ollama(TextBody& body, Endpoint endpoint);

/// A text, or the texts of parts of one of those types, a line for each. `where` names it in
/// errors.
Answer<std::string> parts_text(const Json& content, std::string_view field,
                               const std::string& where,
                               std::initializer_list<std::string_view> types);

/// The same with images among them, as `image` makes parts of OpenAI's of those that are some:
/// nothing of all others. Without any image a text.
using ReadImage =
    std::function<Answer<std::optional<Json>>(const Json& part, const std::string& where)>;
Answer<Json> parts_content(const Json& content, std::string_view field, const std::string& where,
                           std::initializer_list<std::string_view> types, const ReadImage& image);

/// The member `name` as a text; an error where it is missing or none.
Answer<std::string> text_member(const Json& object, std::string_view name, std::string_view field,
                                const std::string& where);

// Parts of a chat of OpenAI's.
Json text_part(std::string_view text);
Json message_json(std::string_view role, Json content);
Json call_json(std::string_view id, std::string_view name, Json arguments);
Json tool_json(const Json& tool, std::string_view parameters);
/// To the calls of the last message, where that is an assistant's; else a new message has them.
void add_call(Json::Array& messages, Json call);

}  // namespace tokamak::openai
