#pragma once
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/result.h"

namespace tokamak {

/// The type that OpenOptions::quantize makes of matrices of floats; none where it is empty.
Result<std::optional<DType>> quantized_type(const std::string& choice);

}  // namespace tokamak
