// Files that describe a speaker by numbers: a JSON array of them, or floats of 32 bits, little end
// first, and nothing else.
#pragma once
#include <span>
#include <vector>

#include "base/json.h"

namespace tokamak {

/// Errors do not name the file.
Result<std::vector<float>> read_speaker(std::string_view file);
/// The numbers of an array. Errors: another value, no number in it, too many of them.
Result<std::vector<float>> speaker_of(const Json& json);

}  // namespace tokamak
