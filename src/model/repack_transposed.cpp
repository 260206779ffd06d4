#include <algorithm>
#include <cstring>

#include "model/repack.h"

namespace tokamak {
namespace {

/// Writes `count` neighbours of each of `columns` rows of `row` elements as rows: element c of row
/// i to out + i * stride + c * sizeof(T). `from` is the first neighbour of the first row.
template <typename T>
void transpose(const std::byte* from, size_t columns, size_t row, size_t count, std::byte* out,
               size_t stride) {
  for (size_t c = 0; c < columns; ++c) {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(out + i * stride + c * sizeof(T), from + (c * row + i) * sizeof(T), sizeof(T));
    }
  }
}

class TransposedRows final : public RowSource {
 public:
  TransposedRows(TensorBytes bytes, const StoredMatrix& stored)
      : bytes_(std::move(bytes)),
        each_(dtype_bytes(stored.dtype)),
        columns_(stored.columns),
        rows_(stored.weight->shape.back()) {}

  Result<void> write(Stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    while (count > 0) {
      const uint64_t matrix = first / rows_, own = first % rows_;
      const uint64_t now = std::min(count, rows_ - own);
      const uint64_t elements = (columns_ - 1) * rows_ + now;
      TOK_TRY(const FileBytes from,
              bytes_.view((matrix * columns_ * rows_ + own) * each_, elements * each_));
      const auto turn = each_ == 2 ? transpose<uint16_t> : transpose<uint32_t>;
      turn(from.data(), size_t(columns_), size_t(rows_), size_t(now), out, stride);
      first += now;
      count -= now;
      out += size_t(now) * stride;
    }
    return {};
  }

 private:
  TensorBytes bytes_;
  uint64_t each_, columns_, rows_;  // of a matrix
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_transposed(const TensorFile& file,
                                                   const StoredMatrix& stored) {
  TOK_TRY(TensorBytes bytes, file.pieces(*stored.weight));
  return std::make_unique<TransposedRows>(std::move(bytes), stored);
}

}  // namespace tokamak
