#include "kernels/quant/random_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

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

/// The largest number that a q stands for, to either side of the middle.
float largest_value(const WeightFormat& format) {
  if (format.code == Code::kInteger) return float(1 << (format.bits - 1));
  if (format.code == Code::kE4M3) return 448;
  float largest = 0;
  for (uint32_t q = 0; q < 1u << format.bits; ++q) {
    largest = std::max(largest, std::abs(format.levels->at(q)));
  }
  return largest;
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
  const WeightFormat& f = weight_format(dtype);
  const auto offsets = stream_offsets(f, rows, columns);
  const auto bytes_of = [&](Stream stream) {
    return std::span(bytes).subspan(size_t(offsets[size_t(stream)]),
                                    size_t(rows * stream_row_bytes(f, stream, columns)));
  };
  // Every `step` bytes of a stream a number, so small that its weights are within the range.
  const auto numbers = [&](Stream stream, DType type, size_t step, size_t first, float largest) {
    const std::span<std::byte> all = bytes_of(stream);
    for (size_t at = first; at < all.size(); at += step) {
      const bool tiny = random() % 8 == 0;
      store(&all[at], type, values(random) * (tiny ? 0x1p-15f : largest));
    }
  };
  // Bytes of f8e4m3 that are numbers.
  const auto finite = [&](Stream stream) {
    for (std::byte& byte : bytes_of(stream)) {
      if ((byte & std::byte{127}) == std::byte{127}) byte &= std::byte{0xfb};
    }
  };
  if (f.code == Code::kE4M3) finite(Stream::kLow);
  if (f.has_zeros()) {
    // Zeros that q may be: weights stay within twice the range.
    for (std::byte& byte : bytes_of(Stream::kZeros)) byte &= std::byte((1 << f.bits) - 1);
  }
  const float unit = 1 / largest_value(f);
  switch (f.scale) {
    case ScaleType::kF16:
    case ScaleType::kBF16:
    case ScaleType::kF32: {
      const uint32_t width = dtype_bytes(f.scale_dtype());
      const bool is_pair = f.offset == Offset::kStored;
      numbers(Stream::kScales, f.scale_dtype(), is_pair ? 2 * width : width, 0, unit);
      if (is_pair) numbers(Stream::kScales, f.scale_dtype(), 2 * width, width, 1);
      break;
    }
    case ScaleType::kE8M0:
      for (std::byte& byte : bytes_of(Stream::kScales)) {
        byte = std::byte(127 + std::ilogb(range * unit) - int(random() % 8));
      }
      break;
    case ScaleType::kE4M3:
      finite(Stream::kScales);
      numbers(Stream::kZeros, DType::kF32, 4, 0, unit / 448);
      break;
    case ScaleType::kBytes:
      numbers(Stream::kZeros, DType::kF16, 2, 0, unit / 128);
      break;
    case ScaleType::kPairs4:
    case ScaleType::kPairs6: {
      const bool four = f.scale == ScaleType::kPairs4;
      const float steps = four ? 15 : 63;
      numbers(Stream::kScales, DType::kF16, four ? 20 : 16, 0, unit / steps);
      numbers(Stream::kScales, DType::kF16, four ? 20 : 16, 2, 1 / steps);
      break;
    }
  }
  return bytes;
}

}  // namespace tokamak
