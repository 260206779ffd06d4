#include "kernels/quant/random_matrix.h"

#include <cstring>

#include "base/bits.h"
#include "base/packing.h"

namespace tokamak {
namespace {

void store(std::byte* at, DType dtype, float value) {
  const uint32_t word = dtype == DType::kF32   ? std::bit_cast<uint32_t>(value)
                        : dtype == DType::kF16 ? f32_to_f16(value)
                                               : f32_to_bf16(value);
  std::memcpy(at, &word, dtype_bytes(dtype));
}

}  // namespace

std::vector<std::byte> random_matrix(DType dtype, uint64_t rows, uint64_t columns, float range,
                                     std::mt19937& random) {
  std::uniform_real_distribution<float> values(-range, range);
  std::vector<std::byte> bytes(size_t(matrix_bytes(dtype, rows, columns)));
  if (!is_packed(dtype)) {
    const uint32_t width = dtype_bytes(dtype);
    for (size_t at = 0; at < bytes.size(); at += width) store(&bytes[at], dtype, values(random));
    return bytes;
  }
  for (std::byte& byte : bytes) byte = std::byte(random() >> 24);
  const Packing& p = packing(dtype);
  const auto offsets = stream_offsets(p, rows, columns);
  // Every `step` bytes of a stream a number, so small that its weights are within the range.
  const auto numbers = [&](Stream stream, DType type, uint64_t step, uint64_t first,
                           float largest) {
    const uint64_t end = offsets[size_t(stream)] + rows * stream_row_bytes(p, stream, columns);
    for (uint64_t at = offsets[size_t(stream)] + first; at < end; at += step) {
      const bool tiny = random() % 8 == 0;
      store(&bytes[size_t(at)], type, values(random) * (tiny ? 0x1p-15f : largest));
    }
  };
  const uint32_t width = dtype_bytes(p.scale_dtype);
  const float steps = float(1 << (p.bits - 1));  // of q to either side of the middle
  switch (p.scaling) {
    case Scaling::kSymmetric:
    case Scaling::kZero:
      numbers(Stream::kScales, p.scale_dtype, width, 0, 1 / steps);
      break;
    case Scaling::kOffset:
      numbers(Stream::kScales, p.scale_dtype, 2 * width, 0, 1 / steps);
      numbers(Stream::kScales, p.scale_dtype, 2 * width, width, 1);
      break;
    case Scaling::kSuper4:
      numbers(Stream::kScales, DType::kF16, 16, 0, 1 / (63 * steps));
      numbers(Stream::kScales, DType::kF16, 16, 2, 1.0f / 63);
      break;
    case Scaling::kSuper6:
      numbers(Stream::kZeros, DType::kF16, 2, 0, 1 / (128 * steps));
      break;
  }
  return bytes;
}

}  // namespace tokamak
