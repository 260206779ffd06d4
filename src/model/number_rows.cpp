#include "model/number_rows.h"

#include <algorithm>
#include <vector>

namespace tokamak {
namespace {

class NumberRows final : public RowSource {
 public:
  NumberRows(std::unique_ptr<NumberReader> reader, DType type, uint64_t columns)
      : reader_(std::move(reader)), format_(weight_format(type)), columns_(size_t(columns)) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    const bool is_number = stream == Stream::kLow || stream == Stream::kHigh;
    std::vector<uint8_t> q(is_number ? columns_ : 0);
    for (uint64_t row = first; row < first + count; ++row, out += stride) {
      if (is_number) {
        reader_->numbers(row, q);
        pack_numbers(format_, stream, q, out);
      } else if (stream == Stream::kScales) {
        reader_->scales(row, out);
      } else {
        reader_->zeros(row, out);
      }
    }
    return {};
  }

 private:
  std::unique_ptr<NumberReader> reader_;
  const WeightFormat& format_;
  size_t columns_;
};

}  // namespace

std::unique_ptr<RowSource> number_rows(std::unique_ptr<NumberReader> reader, DType type,
                                       uint64_t columns) {
  return std::make_unique<NumberRows>(std::move(reader), type, columns);
}

void pack_numbers(const WeightFormat& format, Stream stream, std::span<const uint8_t> q,
                  std::byte* out) {
  const bool is_low = stream == Stream::kLow;
  const uint32_t bits = is_low ? format.low_bits() : format.high_bits();
  const uint32_t shift = is_low ? 0 : format.low_bits(), mask = (1u << bits) - 1;
  const uint32_t each = 8 / bits;
  for (size_t at = 0; at < q.size(); at += each) {
    uint32_t byte = 0;
    for (uint32_t i = 0; i < each; ++i) byte |= (q[at + i] >> shift & mask) << (i * bits);
    *out++ = std::byte(uint8_t(byte));
  }
}

uint8_t number_in(const std::byte* stream, uint64_t i, uint32_t bits) {
  const uint64_t bit = i * bits;
  const uint32_t shift = uint32_t(bit % 8);
  uint32_t value = uint32_t(stream[bit / 8]) >> shift;
  if (shift + bits > 8) value |= uint32_t(stream[bit / 8 + 1]) << (8 - shift);
  return uint8_t(value & ((1u << bits) - 1));
}

}  // namespace tokamak
