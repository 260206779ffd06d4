// How much each column of a matrix counts: the mean squares of what the matrix is multiplied by, as
// llama-imatrix writes them into GGUF files. Reference: llama.cpp, tools/imatrix/imatrix.cpp:
// "NAME.in_sum2" has the sums for each expert and column, "NAME.counts" how many went into them.
#pragma once
#include <vector>

#include "base/result.h"
#include "formats/gguf.h"

namespace tokamak {

/// A value for each column of each expert of a matrix, none of them 0; empty when the file has none
/// for it. Errors name the file and the tensor: another size, numbers that are no sums of squares.
Result<std::vector<float>> importance_of(const GgufFile& file, const TensorInfo& matrix);

}  // namespace tokamak
