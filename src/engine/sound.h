// Transcribers and narrators on an engine's program, one for each recording or text: others may
// use the program between their steps. Native programs only.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace tokamak {

/// Makes a transcriber; the engine outlives it. Errors: the model is no speech-to-text model.
Result<std::unique_ptr<Transcriber>> make_transcriber(Engine& engine);

/// Makes a narrator as Engine::narrator() does; its codec and engine outlive it. Errors: the same.
Result<std::unique_ptr<Narrator>> make_narrator(Engine& engine, const std::string& codec);

}  // namespace tokamak
