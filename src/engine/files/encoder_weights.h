// The weights that a folder of an encoder has in files beside those of the transformer.
#pragma once
#include <string>

#include "formats/tensor_file.h"
#include "model/sentence_transformers.h"

namespace tokamak {

/// Adds the weights of those modules that have some, with their folders before the names.
Result<void> add_module_weights(const std::string& folder, const EncoderFiles& encoder,
                                TensorFile& tensors);

/// Adds sparse_linear.weight and .bias, the layer for sparse vectors that BGE-M3 has, of
/// sparse_linear.safetensors or sparse_linear.pt, which torch.save has written; nothing where there
/// is neither or where `tensors` has them. The tensors in these files are also called weight and
/// bias.
Result<void> add_sparse_linear(const std::string& folder, TensorFile& tensors);

}  // namespace tokamak
