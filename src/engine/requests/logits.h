// The logits after tokens, beside the requests of the engine's scheduler.
#pragma once
#include <span>
#include <vector>

#include "engine/engine.h"
#include "tokamak/logits.h"

namespace tokamak {

/// Those after the last of the tokens, or after each: rows of vocab floats. Errors: no tokens, more
/// than fit, an id beyond the vocabulary, an adapter that there is not, an embedding model,
/// kCancelled.
Result<std::vector<float>> logits_after(Engine& engine, std::span<const uint32_t> ids,
                                        const LogitsOptions& options);

}  // namespace tokamak
