// What a model takes of a device's memory, told to a person for whom it is too much.
#pragma once
#include "engine/engine.h"

namespace tokamak {

/// `why` with what the model needs, and what would need less.
Error does_not_fit(const Engine::Compiled& compiled, const DeviceInfo& device, const Error& why);

}  // namespace tokamak
