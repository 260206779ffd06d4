// Formats of strings that JSON Schema names, as sets that have no text that is not of the
// format.
#pragma once
#include <string_view>

#include "text/grammar/automaton.h"

namespace tokamak::schema {

/// Null for a name that is not known, which says nothing then. Made when it is first asked for.
const grammar::Automaton* automaton_of_format(std::string_view name);

}  // namespace tokamak::schema
