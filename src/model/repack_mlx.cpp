// MLX's affine packing: the q lie as the low stream does, scales and biases become pairs.
// Layout: mlx.core.quantize.
#include <cstring>

#include "model/repack.h"

namespace tokamak {
namespace {

class AffineRows final : public RowSource {
 public:
  AffineRows(const StoredMatrix& stored, TensorBytes weight, TensorBytes scales, TensorBytes biases)
      : low_bytes_(size_t(row_bytes(stored.dtype, Stream::kLow, stored.columns))),
        groups_(size_t(stored.columns / stored.group)),
        width_(dtype_bytes(stored.scales->dtype)),
        weight_(std::move(weight)),
        scales_(std::move(scales)),
        biases_(std::move(biases)) {}

  Result<void> write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
                     size_t stride) const override {
    if (stream == Stream::kLow) {
      TOK_TRY(const FileBytes rows, view(stream, first, count));
      for (size_t i = 0; i < count; ++i) {
        std::memcpy(out + i * stride, rows.data() + i * low_bytes_, low_bytes_);
      }
      return {};
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
    if (stream != Stream::kLow) return FileBytes();
    return weight_.view(first * low_bytes_, count * low_bytes_);
  }

 private:
  size_t low_bytes_, groups_;
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
