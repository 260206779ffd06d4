// The model that makes vectors for a store of memories: an engine, as src/memory calls it.
#pragma once
#include <functional>

#include "engine/engine.h"
#include "memory/embedder.h"

namespace tokamak {

/// The engine as an embedder of that name; both live as long as the engine. `cancelled` ends what
/// is in flight. Errors: a model without vectors or a tokenizer, a context that the model's own
/// prompt fills.
Result<memory::Embedder> embedder_of(Engine& engine, std::string name, std::string pooling,
                                     std::function<bool()> cancelled);

/// Counts a text's tokens as a part of a prompt, where nothing in it is special.
memory::CountTokens plain_counter(const Tokenizer& tokenizer);

}  // namespace tokamak
