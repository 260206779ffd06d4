// MLX's affine packing: the q lie as the low stream does, scales and biases become pairs.
// Layout: mlx.core.quantize.
#include <cstring>

#include "model/repack.h"

namespace tokamak {
namespace {

class AffineRows final : public RowSource {
 public:
  AffineRows(const StoredMatrix& stored, std::span<const std::byte> weight,
             std::span<const std::byte> scales, std::span<const std::byte> biases)
      : low_bytes_(size_t(row_bytes(stored.dtype, Stream::kLow, stored.columns))),
        groups_(size_t(stored.columns / stored.group)),
        width_(dtype_bytes(stored.scales->dtype)),
        weight_(weight),
        scales_(scales),
        biases_(biases) {}

  void write(Stream stream, uint64_t first, uint64_t count, std::byte* out,
             size_t stride) const override {
    for (uint64_t row = first; row < first + count; ++row, out += stride) {
      if (stream == Stream::kLow) {
        std::memcpy(out, weight_.data() + size_t(row) * low_bytes_, low_bytes_);
        continue;
      }
      for (size_t group = 0; group < groups_; ++group) {
        const size_t from = (size_t(row) * groups_ + group) * width_;
        std::memcpy(out + 2 * group * width_, scales_.data() + from, width_);
        std::memcpy(out + (2 * group + 1) * width_, biases_.data() + from, width_);
      }
    }
  }

  std::span<const std::byte> view(Stream stream, uint64_t first, uint64_t count) const override {
    if (stream != Stream::kLow) return {};
    return weight_.subspan(size_t(first) * low_bytes_, size_t(count) * low_bytes_);
  }

 private:
  size_t low_bytes_, groups_;
  uint32_t width_;
  std::span<const std::byte> weight_, scales_, biases_;
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_affine(const TensorFile& file, const StoredMatrix& stored) {
  TOK_TRY(const std::span<const std::byte> weight, file.data(*stored.weight));
  TOK_TRY(const std::span<const std::byte> scales, file.data(*stored.scales));
  TOK_TRY(const std::span<const std::byte> biases, file.data(*stored.zeros));
  return std::make_unique<AffineRows>(stored, weight, scales, biases);
}

}  // namespace tokamak
