// Texts that strangers wrote, on a terminal.
#pragma once
#include <string>
#include <string_view>

namespace tokamak {

/// `text` for a terminal: what would move its cursor, change its colors or title, or speak to what
/// reads its answers is spelled out ("\x1b"), as are bytes that are not UTF-8. Line ends, tabs and
/// all other characters stay; a carriage return, which only overwrites, is left out.
std::string terminal_text(std::string_view text);

}  // namespace tokamak
