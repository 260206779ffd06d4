// Numbers of payment cards in texts: 13 to 19 digits, in groups or not, whose check digit is right.
#pragma once
#include <string_view>
#include <vector>

#include "text/tokenizer/regex.h"

namespace tokamak::memory {

/// Whether the last digit is the one that Luhn's formula (ISO/IEC 7812-1, annex B) gives. Other
/// characters do not count.
bool has_check_digit(std::string_view number);

std::vector<TextRange> card_numbers(std::string_view text);

}  // namespace tokamak::memory
