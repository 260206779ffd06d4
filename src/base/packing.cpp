#include "base/packing.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

/// Reads numbers of a packed matrix, which have no particular alignment.
struct Bytes {
  const std::byte* data;

  uint32_t u8(uint64_t i) const { return uint32_t(data[i]); }
  float number(DType dtype, uint64_t i) const {
    return number_at(dtype, data + i * dtype_bytes(dtype));
  }
  /// Number `i` of `bits` bits, which divide 8; the first one lowest.
  uint32_t small(uint64_t i, uint32_t bits) const {
    return (u8(i * bits / 8) >> (i * bits % 8)) & ((1u << bits) - 1);
  }
};

float e8m0(uint32_t byte) {
  if (byte == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, int32_t(byte) - 127);
}

/// The s and o of the group that holds weight `i` of a row.
struct Affine {
  float scale, offset;
};

/// The streams of one row.
struct RowStreams {
  const WeightFormat& format;
  Bytes low, high, scales, zeros;

  uint32_t q(uint64_t i) const {
    const uint32_t bits = format.low_bits(), more = format.high_bits();
    return low.small(i, bits) | (more == 0 ? 0 : high.small(i, more) << bits);
  }

  /// The scale of a group where it is one number, alone or beside what all groups share.
  float scale(uint64_t i) const {
    const uint64_t group = i / format.group;
    switch (format.scale) {
      case ScaleType::kE8M0:
        return e8m0(scales.u8(group));
      case ScaleType::kE4M3:
        return e4m3_to_f32(uint8_t(scales.u8(group))) * zeros.number(DType::kF32, 0);
      case ScaleType::kBytes:
        return zeros.number(DType::kF16, i / 256) * float(int8_t(scales.u8(group)));
      default:
        return scales.number(format.scale_dtype(),
                             format.offset == Offset::kStored ? 2 * group : group);
    }
  }

  Affine affine(uint64_t i) const {
    if (format.scale == ScaleType::kPairs4 || format.scale == ScaleType::kPairs6) {
      const bool four = format.scale == ScaleType::kPairs4;
      const Bytes block{scales.data + i / 256 * (four ? 20 : 16)}, pairs{block.data + 4};
      const uint32_t byte = four ? pairs.u8(i % 256 / 16) : 0;
      const SuperPair pair =
          four ? SuperPair{byte & 15, byte >> 4} : super_pair(pairs.data, uint32_t(i / 32 % 8));
      return {block.number(DType::kF16, 0) * float(pair.scale),
              -(block.number(DType::kF16, 1) * float(pair.offset))};
    }
    const float stored = format.offset == Offset::kStored
                             ? scales.number(format.scale_dtype(), i / format.group * 2 + 1)
                             : 0.0f;
    return {scale(i), stored};
  }

  /// The number that is multiplied by s.
  float value(uint64_t i) const {
    const int32_t number = int32_t(q(i));
    if (format.code == Code::kE4M3) return e4m3_to_f32(uint8_t(number));
    if (format.code == Code::kLevels) return format.levels->at(uint32_t(number));
    switch (format.offset) {
      case Offset::kMiddle:
        return float(format.bits == 8 ? int8_t(number) : number - (1 << (format.bits - 1)));
      case Offset::kZero:
        return float(number - int32_t(zeros.u8(i / format.group)));
      case Offset::kNextZero:
        return float(number - int32_t(zeros.u8(i / format.group)) - 1);
      default:
        return float(number);
    }
  }
};

}  // namespace

uint64_t stream_row_bytes(const WeightFormat& f, Stream stream, uint64_t columns) {
  TOK_CHECK(columns % f.row_unit() == 0);
  const uint64_t groups = columns / f.group;
  switch (stream) {
    case Stream::kLow:
      return columns * f.low_bits() / 8;
    case Stream::kHigh:
      return columns * f.high_bits() / 8;
    case Stream::kScales:
      if (f.scale == ScaleType::kPairs4) return columns / 256 * 20;
      if (f.scale == ScaleType::kPairs6) return columns / 256 * 16;
      if (f.scale > ScaleType::kF32) return groups;
      return groups * dtype_bytes(f.scale_dtype()) * (f.offset == Offset::kStored ? 2 : 1);
    case Stream::kZeros:
      if (f.has_zeros()) return groups;
      if (f.scale == ScaleType::kE4M3) return 4;
      return f.scale == ScaleType::kBytes ? columns / 256 * 2 : 0;
  }
  return 0;
}

std::array<uint64_t, 5> stream_offsets(const WeightFormat& format, uint64_t rows,
                                       uint64_t columns) {
  std::array<uint64_t, 5> offsets{};
  for (size_t i = 0; i < kStreams.size(); ++i) {
    offsets[i + 1] =
        round_up<uint64_t>(offsets[i] + rows * stream_row_bytes(format, kStreams[i], columns), 16);
  }
  return offsets;
}

uint64_t matrix_bytes(DType dtype, uint64_t rows, uint64_t columns) {
  if (is_packed(dtype)) return stream_offsets(weight_format(dtype), rows, columns).back();
  return rows * columns * dtype_bytes(dtype);
}

SuperPair super_pair(const std::byte* pairs, uint32_t group) {
  const auto at = [&](uint32_t i) { return uint32_t(pairs[i]); };
  if (group < 4) return {at(group) & 63, at(group + 4) & 63};
  return {(at(group + 4) & 15) | (at(group - 4) >> 6 << 4),
          (at(group + 4) >> 4) | (at(group) >> 6 << 4)};
}

float e4m3_to_f32(uint8_t bits) {
  const uint32_t exponent = (bits >> 3) & 15, fraction = bits & 7;
  const float magnitude = (bits & 127) == 127 ? std::numeric_limits<float>::quiet_NaN()
                          : exponent == 0 ? std::ldexp(float(fraction), -9)
                                          : std::ldexp(float(8 + fraction), int32_t(exponent) - 10);
  return bits < 128 ? magnitude : -magnitude;
}

float number_at(DType dtype, const std::byte* bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, dtype_bytes(dtype));
  if (dtype == DType::kF32) return std::bit_cast<float>(bits);
  return dtype == DType::kF16 ? f16_to_f32(uint16_t(bits)) : bf16_to_f32(uint16_t(bits));
}

void unpack_row(DType dtype, std::span<const std::byte> bytes, uint64_t rows, uint64_t row,
                std::span<float> out) {
  const WeightFormat& f = weight_format(dtype);
  const auto offsets = stream_offsets(f, rows, out.size());
  TOK_CHECK(bytes.size() >= offsets.back() && row < rows);
  const auto stream = [&](Stream s) {
    return Bytes{bytes.data() + offsets[size_t(s)] + row * stream_row_bytes(f, s, out.size())};
  };
  const RowStreams streams{f, stream(Stream::kLow), stream(Stream::kHigh), stream(Stream::kScales),
                           stream(Stream::kZeros)};
  for (size_t at = 0; at < out.size(); at += f.group) {
    const Affine affine = streams.affine(at);
    for (size_t i = at; i < at + f.group; ++i) {
      out[i] = affine.scale * streams.value(i);
      if (f.offset == Offset::kStored) out[i] += affine.offset;
    }
  }
}

}  // namespace tokamak
