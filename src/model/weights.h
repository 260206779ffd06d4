// Makes the bytes of a graph's constants from a checkpoint: rows put together, norms raised by one,
// vectors widened to f32, rotary tables computed. Tensor by tensor, straight from the mapped file
// where nothing changes.
#pragma once
#include "base/pieces.h"
#include "formats/tensor_file.h"
#include "graph/graph.h"

namespace tokamak {

/// Calls `write` with pieces of the constant's bytes, at most 512 KiB of them copied, or four rows.
/// A share is some of the constant's rows.
Result<void> read_constant(const TensorFile& file, const TensorDesc& constant, Share share,
                           const WriteBytes& write);

}  // namespace tokamak
