// Bytes for a sink, piece by piece: those of a file as they are, and rows that threads make.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "formats/byte_source.h"
#include "formats/tensor_file.h"

namespace tokamak {

/// Takes the bytes of the file, from its beginning to its end.
using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

/// Whether the work is to end; empty: never.
using Cancelled = std::function<bool()>;

/// kCancelled once the work has been cancelled.
Result<void> check_cancelled(const Cancelled& cancelled);

/// Puts the bytes [from, to) that `view(at, count)` gives.
Result<void> put_bytes(const std::function<Result<FileBytes>(uint64_t, uint64_t)>& view,
                       uint64_t from, uint64_t to, const Cancelled& cancelled,
                       const ByteSink& sink);

/// Puts the bytes of a tensor as they are.
Result<void> copy_tensor(const TensorFile& file, const TensorInfo& tensor,
                         const Cancelled& cancelled, const ByteSink& sink);

/// The rows of a matrix, each by itself. make(first, count, out) writes `count` of them; it is
/// called by several threads at once, each with its own rows.
struct RowMaker {
  uint64_t count = 0, columns = 0, row_bytes = 0;
  std::function<Result<void>(uint64_t first, uint64_t count, std::byte* out)> make;
};

/// Puts all rows, in chunks that `threads` share. The bytes do not depend on their number. The
/// error is that of the first row that has one.
Result<void> put_rows(const RowMaker& rows, uint32_t threads, const Cancelled& cancelled,
                      const ByteSink& sink);

}  // namespace tokamak
