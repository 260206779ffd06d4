// Texts of Windows: UTF-16, and numbers of errors. For the *_windows.cpp beside it alone.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

/// Characters that are not UTF-8 become U+FFFD.
std::wstring wide_text(std::string_view text);
/// Halves of pairs that stand alone become U+FFFD.
std::string narrow_text(std::wstring_view text);

/// The reason of the call that has just failed, without a full stop; with the codes of file.h.
Failure last_reason();

}  // namespace tokamak
