// Base64 with its padding (RFC 4648, section 4): bytes within texts.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

std::string base64_of(std::span<const std::byte> bytes);

/// Nothing where that is not what base64_of() writes for any bytes: other letters, white space,
/// padding that is missing or hides bits.
std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text);

/// The same of what other programs write (WHATWG Infra, "forgiving-base64 decode"): ASCII white
/// space counts for nothing, padding may be missing and may hide bits. Beyond that '-' and '_' are
/// taken for '+' and '/' (RFC 4648, section 5).
std::optional<std::vector<std::byte>> bytes_of_loose_base64(std::string_view text);

}  // namespace tokamak
