// The words that the program was started with. Native builds only.
#pragma once
#include <string>
#include <vector>

namespace tokamak {

/// The words after the program's name, in UTF-8; of what main() was given, where the system gives
/// that in UTF-8.
std::vector<std::string> program_arguments(int count, char** words);

}  // namespace tokamak
