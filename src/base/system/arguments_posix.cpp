#include <algorithm>

#include "base/system/arguments.h"

namespace tokamak {

std::vector<std::string> program_arguments(int count, char** words) {
  return {words + std::min(count, 1), words + count};
}

}  // namespace tokamak
