// Makes the bytes of a graph's constants from a checkpoint: rows put together, norms raised by one,
// vectors widened to f32, rotary tables computed. Tensor by tensor, straight from the mapped file
// where nothing changes.
#pragma once
#include <functional>
#include <span>

#include "formats/tensor_file.h"
#include "graph/graph.h"

namespace tokamak {

using WriteBytes = std::function<Result<void>(std::span<const std::byte>)>;

/// Calls `write` with consecutive pieces of the constant's bytes, at most a few MiB of them copied.
Result<void> read_constant(const TensorFile& file, const TensorDesc& constant,
                           const WriteBytes& write);

}  // namespace tokamak
