// Numbers that are tensors of their own.
#pragma once
#include <string>

#include "formats/tensor_file.h"

namespace tokamak {

/// The only element of a tensor of floats.
Result<float> scalar(const TensorFile& file, const std::string& name);
/// The same; `missing` where there is no such tensor.
Result<float> scalar_or(const TensorFile& file, const std::string& name, float missing);

}  // namespace tokamak
