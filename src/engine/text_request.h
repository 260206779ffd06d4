// A TextRequest becomes what the scheduler takes.
#pragma once
#include "engine/engine.h"
#include "tokamak/tokamak.h"

namespace tokamak {

/// Errors: more than one kind of prompt, a chat that the template refuses, a grammar that is none.
/// Reads only what of an engine does not change. Without a seed it has none.
Result<Request> scheduler_request(const Engine& engine, const TextRequest& asked);

}  // namespace tokamak
