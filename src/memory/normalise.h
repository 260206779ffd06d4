// The form in which texts are stored, compared and searched.
#pragma once
#include <string>
#include <string_view>

namespace tokamak::memory {

/// Valid UTF-8 in NFC. Every kind of line end becomes \n, so that nobody who quotes a text line by
/// line misses one; other control characters but tabs, and a byte order mark, are left out.
std::string normalise(std::string_view bytes);

}  // namespace tokamak::memory
