// The parts of load_dawn() that each system has for itself: loader.cpp, dll_loader.cpp.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// The places of a Dawn that was not named, the best first.
std::vector<std::string> dawn_places();

/// The error when there is none in `places`.
Failure no_dawn(const std::vector<std::string>& places);

/// Opens that library and points the jumps at its functions.
Result<void> open_dawn(const std::string& path);

/// The first that is there; "" when none is.
std::string first_readable(const std::vector<std::string>& paths);

}  // namespace tokamak
