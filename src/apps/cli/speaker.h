// Files that say who speaks, for the commands that let models speak.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak::cli {

/// The numbers in a file as speech/speaker_file.h has them; errors name the file. "": none.
Result<std::vector<float>> read_speaker_file(const std::string& path);

}  // namespace tokamak::cli
