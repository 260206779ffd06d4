// From the layouts of files to those of base/packing.h, losslessly and some rows at a time. One
// file for each layout: repack_gguf, repack_mlx, repack_gptq, repack_awq,
// repack_scaled, repack_nf4, repack_transposed;
// quantize makes packed rows of floats.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/packing.h"
#include "graph/graph.h"
#include "model/stored_matrix.h"

namespace tokamak {

/// A stored matrix as the device wants it. Types that are not packed are one stream, kLow.
class RowSource {
 public:
  virtual ~RowSource() = default;

  /// Writes what rows [first, first + count) have in `stream`: row first + i to out + i * stride.
  /// Errors: those of reading.
  virtual Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                             size_t stride) const = 0;

  /// The same bytes where the file has them one after the other; else empty.
  virtual Result<FileBytes> view(Stream, uint64_t /*first*/, uint64_t /*count*/) const {
    return FileBytes();
  }
};

/// Makes factor * w of a weight, or factor * (1 + w); of f32 only.
struct WeightChange {
  bool add_one = false;
  float factor = 1;
  bool is_none() const { return !add_one && factor == 1; }
};

/// The rows of `stored` as `type`: its own, f32 for floats (with `change`), or kQ8_0 or kQ4_0
/// for floats in rows of a multiple of 32. REQUIRES: `file` outlives the source.
Result<std::unique_ptr<RowSource>> open_rows(const TensorFile& file, const StoredMatrix& stored,
                                             DType type, const WeightChange& change = {});

/// Rows of `source`, which are of `type`, as f32.
std::unique_ptr<RowSource> widen_rows(std::unique_ptr<RowSource> source, DType type,
                                      uint64_t columns);

/// Columns of `source`, whose rows of `type` have range.whole: range.count of them, then zeros up
/// to `columns`. REQUIRES: all are multiples of the type's row_unit().
std::unique_ptr<RowSource> slice_columns(std::unique_ptr<RowSource> source, DType type,
                                         const ColumnRange& range, uint64_t columns);

/// FileBytes of a row in `stream`, for types packed and not.
uint64_t row_bytes(DType type, Stream stream, uint64_t columns);

// The parts of open_rows.
Result<std::unique_ptr<RowSource>> open_blocks(const TensorFile& file, const StoredMatrix& stored);
Result<std::unique_ptr<RowSource>> open_affine(const TensorFile& file, const StoredMatrix& stored);
Result<std::unique_ptr<RowSource>> open_gptq(const TensorFile& file, const StoredMatrix& stored);
Result<std::unique_ptr<RowSource>> open_awq(const TensorFile& file, const StoredMatrix& stored);
Result<std::unique_ptr<RowSource>> open_nf4(const TensorFile& file, const StoredMatrix& stored);
Result<std::unique_ptr<RowSource>> open_scaled(const TensorFile& file, const StoredMatrix& stored);
/// Rows of matrices that lie as [columns, rows] in one tensor, in their own type.
Result<std::unique_ptr<RowSource>> open_transposed(const TensorFile& file,
                                                   const StoredMatrix& stored);
/// `floats`: rows of type `stored`.
std::unique_ptr<RowSource> quantize_rows(std::unique_ptr<RowSource> floats, DType stored,
                                         uint64_t columns, DType type);

/// The factor of the whole matrix; 1 where the file has none.
Result<float> factor_of(const TensorFile& file, const StoredMatrix& stored);

/// FileBytes of a row in the blocks of a GGUF file. REQUIRES: a type that GGUF has.
uint64_t block_row_bytes(DType type, uint64_t columns);

/// Writes the part of a row of GGUF blocks that belongs in `stream`.
void repack_block_row(DType type, Stream stream, const std::byte* blocks, uint64_t columns,
                      std::byte* out);

/// Floats of any type from bytes of any alignment, and back, rounded to the type.
void load_floats(DType type, const std::byte* bytes, std::span<float> out);
void store_floats(DType type, std::span<const float> values, std::byte* out);

/// Rounds a row to blocks of 32 as llama.cpp's quantize_row_q8_0_ref and quantize_row_q4_0_ref do:
/// q8_0 by the largest magnitude / 127, q4_0 by the value of largest magnitude / -8. A block with
/// anything that is no finite number becomes NaN. REQUIRES: kQ8_0 or kQ4_0; whole blocks.
void quantize_row(DType type, std::span<const float> row, std::byte* blocks);

/// True when column i is of group i / size for all of them. REQUIRES: `groups` is i32.
Result<bool> counts_up(const TensorFile& file, const TensorInfo& groups, uint64_t size);

/// The format that GPTQ's qzeros show: all are the middle of the numbers, or all one less.
Result<ZeroFormat> zero_format(const TensorFile& file, const TensorInfo& zeros, uint32_t bits);

}  // namespace tokamak
