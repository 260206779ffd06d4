// Arguments of calls that are written between tags: their values, by the schemas of functions.
#pragma once
#include <string_view>

#include "base/json.h"

namespace tokamak::protocol {

/// The function of that name in `tools` of a request; null where there is none.
const Json* function_named(const Json& tools, std::string_view name);

/// The schema of a function's parameters; null where there is none.
const Json* parameters_of(const Json& tools, std::string_view function);

/// Sets an argument from the text between its tags: to the text itself where the schema has no
/// other type that fits, or where it is no value. `parameters` may be null.
void set_argument(const Json* parameters, std::string_view key, std::string_view text, Json& out);

}  // namespace tokamak::protocol
