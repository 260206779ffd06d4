// Some rows of a weight, as a constant of its own: what a device holds of a matrix that is too
// large for one of its buffers, or of several types.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace tokamak {

/// Rows first .. first + count - 1 of `matrix`: that shape, and a recipe whose parts are cut to
/// those rows; rows of one type have it. The name gets a suffix, "/first".
///
/// Parts that are joined one after another say how many rows they are; where they do not, they are
/// taken to be equally long.
/// REQUIRES: a Weight of [rows, columns] that holds those rows; when its parts' rows alternate,
/// `first` and `count` are multiples of their number.
TensorDesc row_range(const TensorDesc& matrix, uint32_t first, uint32_t count);

/// The rows at which another type begins where parts have types of their own, 0 in front of them
/// and the number of rows after. REQUIRES: as row_range().
std::vector<uint32_t> type_bounds(const TensorDesc& matrix);

/// Bytes of a constant as a device holds it, each of its rows in its own type.
uint64_t stored_bytes(const TensorDesc& constant);

}  // namespace tokamak
