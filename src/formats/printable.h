// Text out of a file, made fit for a message: one line, of bounded length.
#pragma once
#include <string>
#include <string_view>

namespace tokamak {

/// Control characters become \xNN, bytes that are not UTF-8 U+FFFD; anything after 200 bytes
/// becomes
/// "...".
std::string printable(std::string_view text);

/// True for control characters, NUL among them.
bool has_control_character(std::string_view text);

}  // namespace tokamak
