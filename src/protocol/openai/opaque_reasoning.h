// The thoughts of an answer as `encrypted_content` of an item of Responses: clients that keep
// nothing on a server (store: false) send back that member alone, and know it as something that
// only the server reads. Ours is no secret: it is the text itself.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tokamak::protocol {

std::string opaque_reasoning(std::string_view text);
/// Nothing for one that another service has made.
std::optional<std::string> reasoning_of_opaque(std::string_view opaque);

}  // namespace tokamak::protocol
