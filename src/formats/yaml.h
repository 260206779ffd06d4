// YAML as JSON, for the configs of models that have theirs in it. By libyaml.
#pragma once
#include <string_view>

#include "base/json.h"

namespace tokamak {

/// A document of mappings with text keys, sequences and scalars; plain scalars are null, booleans
/// and numbers where they look like these. Errors say the line. Aliases are refused: what refers to
/// others may be large without limit.
Result<Json> parse_yaml(std::string_view text);

}  // namespace tokamak
