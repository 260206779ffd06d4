// The outcome of tokens that were guessed (generate/speculation.h), for lines about speed.
#pragma once
#include <string>

#include "engine/engine.h"

namespace tokamak {

/// "; 24 of 31 guesses came true", of all that the engine has generated; "" where none were made.
std::string guesses_text(Engine& engine);

}  // namespace tokamak
