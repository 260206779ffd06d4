// The name of a model for a person.
#pragma once
#include <string>

#include "engine/engine.h"

namespace tokamak {

/// The name that was given, a path or org/name; "storyteller (built-in)" without one.
std::string model_title(const ModelFiles& files, const std::string& asked);

/// The last part of its name, for columns: "Qwen3-0.6B", "storyteller".
std::string short_model_name(const ModelFiles& files, const std::string& asked);

}  // namespace tokamak
