// Formats of strings that JSON Schema names, as regular expressions that have no text that is not
// of the format.
#pragma once
#include <string_view>

namespace tokamak::schema {

/// For the whole text; "" for a name that is not known, which says nothing then.
std::string_view expression_of_format(std::string_view name);

}  // namespace tokamak::schema
