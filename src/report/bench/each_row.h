// Work on the rows of a matrix by all of the host's processors. Native programs only.
#pragma once
#include <cstddef>
#include <functional>

#include "base/result.h"

namespace tokamak {

/// Calls `work` with each number below `rows`, on several threads; an error ends its thread's part
/// of them. Gives the first error by the order of rows.
Result<void> for_each_row(size_t rows, const std::function<Result<void>(size_t row)>& work);

}  // namespace tokamak
