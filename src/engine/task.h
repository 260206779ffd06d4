// What a model is opened for, text or embeddings, and what follows from it for the graph.
#pragma once
#include <optional>

#include "engine/engine.h"

namespace tokamak {

/// What the folder says about embeddings, or options.pooling where it says nothing.
Result<std::optional<Encoder>> find_encoder(const ModelFiles& files, const OpenOptions& options);

/// Why the model cannot be used for `task`, with what it can be used for.
Result<void> check_task(const Engine::Compiled& compiled, Task task);

/// Positions of a sequence, tokens of a step, the end of the graph; the KV type is left alone.
Result<BuildOptions> build_options(const Engine::Compiled& compiled, const OpenOptions& options);

}  // namespace tokamak
