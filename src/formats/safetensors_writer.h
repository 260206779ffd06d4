// Writes the header of safetensors files, in the layout of safetensors.h. Native builds only.
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "formats/tensor_file.h"

namespace tokamak {

/// The length of the header and the header of a file of these tensors, whose bytes follow without
/// gaps. REQUIRES: types of safetensors.
std::string safetensors_header(const std::vector<TensorInfo>& tensors, const Json& metadata);

}  // namespace tokamak
