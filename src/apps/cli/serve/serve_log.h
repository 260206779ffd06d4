// Standard error of `tokamak serve`: lines that never make who writes them wait.
#pragma once
#include <functional>

#include "serve/access_log.h"

namespace tokamak::cli {

/// From here on all notes of the program are lines of the log, too, up to its end. Gives what
/// writes the line of an answer. It is called once.
std::function<void(const serve::Answered&)> start_log(serve::LogFormat format);

}  // namespace tokamak::cli
