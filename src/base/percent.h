// Percent-encoding of addresses (RFC 3986, section 2.1).
#pragma once
#include <string>
#include <string_view>

namespace tokamak {

/// Decodes "a%2Fb" to "a/b"; text that is no escape stays.
std::string percent_decoded(std::string_view text);

}  // namespace tokamak
