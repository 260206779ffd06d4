// Some columns of rows, as a rank has them of a matrix that is cut along its rows.
#include <cstring>

#include "base/check.h"
#include "model/repack.h"

namespace tokamak {
namespace {

/// Rows are read whole and several at once: what is left out of them is in the same pages.
constexpr uint64_t kReadBytes = uint64_t{256} << 10;

class SlicedRows final : public RowSource {
 public:
  SlicedRows(std::unique_ptr<RowSource> source, DType type, const ColumnRange& range,
             uint64_t columns)
      : source_(std::move(source)), type_(type), range_(range), columns_(columns) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    const size_t own = size_t(row_bytes(type_, stream, columns_));
    const size_t whole = size_t(row_bytes(type_, stream, range_.whole));
    // A stream may have something for each row, whatever its length.
    const bool is_per_row = own != 0 && row_bytes(type_, stream, 2 * columns_) == own;
    const size_t begin = is_per_row ? 0 : size_t(row_bytes(type_, stream, range_.first));
    const size_t there = is_per_row ? own : size_t(row_bytes(type_, stream, range_.count));
    const uint64_t most = std::max<uint64_t>(1, kReadBytes / std::max<size_t>(whole, 1));
    std::vector<std::byte> rows;
    for (uint64_t at = 0; at < count; at += most) {
      const uint64_t read = std::min(most, count - at);
      rows.resize(size_t(read) * whole);
      if (there != 0) TOK_TRY(source_->write(stream, first + at, read, rows.data(), whole));
      for (uint64_t i = 0; i < read; ++i) {
        std::byte* const to = out + size_t(at + i) * stride;
        if (there != 0) std::memcpy(to, rows.data() + size_t(i) * whole + begin, there);
        std::memset(to + there, 0, own - there);
      }
    }
    return {};
  }

 private:
  std::unique_ptr<RowSource> source_;
  DType type_;
  ColumnRange range_;
  uint64_t columns_;
};

}  // namespace

std::unique_ptr<RowSource> slice_columns(std::unique_ptr<RowSource> source, DType type,
                                         const ColumnRange& range, uint64_t columns) {
  TOK_CHECK(range.first + range.count <= range.whole && range.count <= columns);
  return std::make_unique<SlicedRows>(std::move(source), type, range, columns);
}

}  // namespace tokamak
