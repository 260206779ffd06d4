// Normal forms of texts that are not ASCII, and texts without the difference of small and capital
// letters. Two versions: utf8proc's (native) and the browser's.
#pragma once
#include <string>
#include <string_view>

#include "text/unicode/unicode.h"

namespace tokamak {

/// Appends the normal form of `text`, whose neighbours do not interact with it.
void append_normal_form(std::string& out, std::string_view text, NormalForm form);

/// Appends what Unicode's full case folding makes of a character: up to three.
void append_folded(std::string& out, char32_t character);

}  // namespace tokamak
