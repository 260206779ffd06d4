// Parts of a chat of OpenAI's, which readers of every protocol make.
#pragma once
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

Json text_part(std::string_view text);
Json message_json(std::string_view role, Json content);
Json call_json(std::string_view id, std::string_view name, Json arguments);
/// Adds to the calls of the last message, where that is an assistant's; else a new message has
/// them.
void add_call(Json::Array& messages, Json call);

/// The member `name` as a text; an error where it is missing or none.
Answer<std::string> text_member(const Json& object, std::string_view name, std::string_view field,
                                const std::string& where);

}  // namespace tokamak::protocol
