// How much a text repeats itself: its bytes, divided by what zlib makes of them. Models that are
// stuck write the same words again and again.
#pragma once
#include <string_view>

namespace tokamak {

/// 0 for an empty text.
double compression_ratio(std::string_view text);

}  // namespace tokamak
