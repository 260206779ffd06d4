// Names of what the host writes for each row of a step beside the token ids.
#pragma once
#include <string_view>

namespace tokamak {

/// u32 [T]: which of two texts the token is of, 0 or 1.
inline constexpr std::string_view kTokenTypes = "token_types";

}  // namespace tokamak
