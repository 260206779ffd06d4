// The passes, in the order in which they run.
#pragma once
#include <set>
#include <span>
#include <string>

#include "fuse/pass.h"

namespace tokamak::fuse {

std::span<const Pass> passes();

/// Names of passes that shall not run: what --disable-pass collects.
using DisabledPasses = std::set<std::string, std::less<>>;

/// How often each pass replaced something, in pipeline order. Errors: a disabled name that is no
/// pass's, listing the names.
Result<std::vector<uint32_t>> run_pipeline(Graph& graph, const DisabledPasses& disabled = {});

}  // namespace tokamak::fuse
