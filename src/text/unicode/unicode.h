// The Unicode facts that tokenizers ask for: character classes, lower case, normal forms.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace tokamak {

bool is_whitespace(char32_t c);         // White_Space
bool is_word(char32_t c);               // \w: Alphabetic, M, Nd, Pc, Join_Control
bool is_numeric(char32_t c);            // N
bool is_punctuation(char32_t c);        // P, and all ASCII punctuation
bool is_combining_mark(char32_t c);     // M
bool is_nonspacing_mark(char32_t c);    // Mn
bool is_control_or_format(char32_t c);  // Cc, Cf, Co

/// Character by character, without context: the final sigma is not special.
std::string to_lower(std::string_view text);

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };
std::string to_normal_form(std::string_view text, NormalForm form);

}  // namespace tokamak
