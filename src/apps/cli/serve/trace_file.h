// The file of `serve --trace`.
#pragma once
#include <memory>
#include <string>

#include "serve/trace.h"

namespace tokamak::cli {

/// A trace that begins the file anew, and is in it as events come. Errors: the file cannot be
/// written.
Result<std::unique_ptr<serve::Trace>> trace_into(const std::string& path);

}  // namespace tokamak::cli
