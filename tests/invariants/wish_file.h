// A checkpoint for any config: every tensor that the architecture asks for, with values seeded by
// its name. So each row of the registry runs without a file.
#pragma once
#include "model/arch.h"

namespace tokamak::invariants {

/// Errors: those of the architecture.
Result<TensorFile> wish_file(const Architecture& architecture, const ConfigReader& config);

}  // namespace tokamak::invariants
