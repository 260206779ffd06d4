// Amounts of bytes, as people write them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tokamak {

std::string bytes_text(uint64_t bytes);  // "17.22 MiB"

/// "500", "64K", "1.7GiB", "16G" or "1T", in powers of 1024, with or without "B" or "iB"; nothing
/// for any other text, or more than 64 bits hold.
std::optional<uint64_t> parse_bytes(std::string_view text);

}  // namespace tokamak
