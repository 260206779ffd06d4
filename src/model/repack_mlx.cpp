// MLX's affine packing: a row is one stream of bits, so q of 2, 4 and 8 bits lie as the low stream
// does. Scales and biases become pairs. Layout: mlx.core.quantize.
#include <cstring>

#include "model/number_rows.h"
#include "model/repack.h"

namespace tokamak {
namespace {

class AffineRows final : public RowSource {
 public:
  AffineRows(const StoredMatrix& stored, TensorBytes weight, TensorBytes scales, TensorBytes biases)
      : format_(weight_format(stored.dtype)),
        columns_(size_t(stored.columns)),
        row_bytes_(columns_ * format_.bits / 8),
        groups_(size_t(stored.columns / stored.group)),
        width_(dtype_bytes(stored.scales->dtype)),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        biases_(std::move(biases)) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    if (stream == Stream::kLow || stream == Stream::kHigh) {
      return write_numbers(stream, first, count, out, stride);
    }
    const size_t row = groups_ * width_;
    TOK_TRY(const FileBytes scales, scales_.view(first * row, count * row));
    TOK_TRY(const FileBytes biases, biases_.view(first * row, count * row));
    for (size_t i = 0; i < count; ++i, out += stride) {
      for (size_t group = 0; group < groups_; ++group) {
        const size_t from = i * row + group * width_;
        std::memcpy(out + 2 * group * width_, scales.data() + from, width_);
        std::memcpy(out + (2 * group + 1) * width_, biases.data() + from, width_);
      }
    }
    return {};
  }

  Result<FileBytes> view(Stream stream, uint64_t first, uint64_t count) const override {
    if (stream != Stream::kLow || format_.high_bits() != 0) return FileBytes();
    return weight_.view(first * row_bytes_, count * row_bytes_);
  }

 private:
  Result<void> write_numbers(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                             size_t stride) const {
    TOK_TRY(const FileBytes rows, weight_.view(first * row_bytes_, count * row_bytes_));
    std::vector<uint8_t> q(format_.high_bits() == 0 ? 0 : columns_);
    for (size_t row = 0; row < count; ++row, out += stride) {
      const std::byte* from = rows.data() + row * row_bytes_;
      if (q.empty()) {
        std::memcpy(out, from, row_bytes_);
        continue;
      }
      for (size_t i = 0; i < q.size(); ++i) q[i] = number_in(from, i, format_.bits);
      pack_numbers(format_, stream, q, out);
    }
    return {};
  }

  const WeightFormat& format_;
  size_t columns_, row_bytes_, groups_;
  uint32_t width_;
  TensorBytes weight_, scales_, biases_;
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_affine(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(TensorBytes weight, file.pieces(*stored.weight));
  TOK_TRY(TensorBytes scales, file.pieces(*stored.scales));
  TOK_TRY(TensorBytes biases, file.pieces(*stored.zeros));
  return std::make_unique<AffineRows>(stored, std::move(weight), std::move(scales),
                                      std::move(biases));
}

}  // namespace tokamak
