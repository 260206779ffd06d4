// What a model is called where a person reads it.
#pragma once
#include <string>

#include "engine/engine.h"

namespace tokamak {

/// As it was asked for, a path or org/name; "storyteller (built-in)" when nothing was.
std::string model_title(const ModelFiles& files, const std::string& asked);

/// The last part of its name, for columns: "Qwen3-0.6B", "storyteller".
std::string short_model_name(const ModelFiles& files, const std::string& asked);

}  // namespace tokamak
