// What works with sound on an engine's program, one for each recording or text: others may use the
// program between their steps. Native programs only.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace tokamak {

/// The engine outlives it. Errors: a model that does not hear.
Result<std::unique_ptr<Transcriber>> make_transcriber(Engine& engine);

/// With the codec of Engine::narrator(); the engine and that codec outlive it. Errors: those.
Result<std::unique_ptr<Narrator>> make_narrator(Engine& engine, const std::string& codec);

}  // namespace tokamak
