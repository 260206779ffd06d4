// Images in a chat of OpenAI's: parts {"type": "image_url", "image_url": {"url", "detail"}} of the
// messages of the user, whose address holds the image itself. Nothing is fetched: whoever may send
// a request must not choose what the server asks on its network.
#pragma once
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

inline constexpr size_t kMaxImages = 16;  // of a request

/// A part for an address, as other dialects' readers make it.
Json image_part(std::string url);
/// The address that holds the file with those bytes, in base64; what is one already is left.
std::string data_url(std::string_view media_type, std::string_view base64);

/// The image of such a part; an error where it is none, or one that has to be fetched. `where`
/// names the part in errors.
Answer<std::vector<std::byte>> image_bytes(const Json& part, const std::string& where);

/// The files of the images of all messages, in their order. Errors: one of those, or too many.
struct ImageFile {
  std::string where;
  std::vector<std::byte> bytes;
};
Answer<std::vector<ImageFile>> image_files(const Json& messages);

bool is_image_part(const Json& part);

}  // namespace tokamak::protocol
