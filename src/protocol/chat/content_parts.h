// Contents of messages, in the parts and blocks of every protocol: programs made for one send its
// parts to another as well, so there is one reader for all of them.
#pragma once
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// The content as a chat of OpenAI's has it: a text, a line for each part; where images are among
/// the parts a list of parts "text" and "image_url". null and [] are the empty text. Takes texts
/// (text, input_text, output_text, refusal, ...), images in base64 (image_url, input_image, image),
/// documents and files whose content is text, and search results. `reasoning` takes the texts of
/// parts of an assistant that are its thoughts, a line for each; null: there must be none.
/// Errors name `field`, and the part as `where` and its place.
Answer<Json> chat_content(const Json& content, std::string_view field, const std::string& where,
                          std::string* reasoning = nullptr);

/// One part of such a list, as the texts and images that it is: at the end of `parts`.
Answer<void> add_parts(const Json& part, std::string_view field, const std::string& where,
                       Json::Array& parts);
/// The content that they make: a text, unless images are among them.
Json content_of(Json::Array parts);

/// chat_content() where an image has no place.
Answer<std::string> text_content(const Json& content, std::string_view field,
                                 const std::string& where);

/// The texts of a chat's content, a line for each; of an image the word "[image]".
std::string text_of_content(const Json& content);

/// The member `name`, or null where it is missing, null or no text.
const std::string* text_in(const Json& object, std::string_view name);
/// The member `type` as a text, empty where there is none.
std::string type_of(const Json& object);

/// Adds `more` to `text`, on a line of its own.
void add_line(std::string& text, std::string_view more);

}  // namespace tokamak::protocol
