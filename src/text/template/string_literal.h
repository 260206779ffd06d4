// The escapes of a string literal, as Python's "unicode-escape" resolves them.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak::jinja {

/// `body` is what stands between the quotes. Unknown escapes stay as they are.
Result<std::string> resolve_escapes(std::string_view body);

}  // namespace tokamak::jinja
