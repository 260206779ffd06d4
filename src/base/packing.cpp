#include "base/packing.h"

#include <cstring>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {
namespace {

constexpr DType kF16 = DType::kF16, kBF16 = DType::kBF16, kF32 = DType::kF32;

// In the order of the packed enumerators of DType.
constexpr Packing kPackings[] = {
    {"q8_0", 8, 32, Scaling::kSymmetric, kF16},
    {"q4_0", 4, 32, Scaling::kSymmetric, kF16},
    {"q4_1", 4, 32, Scaling::kOffset, kF16},
    {"q5_0", 5, 32, Scaling::kSymmetric, kF16},
    {"q5_1", 5, 32, Scaling::kOffset, kF16},
    {"q4_k", 4, 32, Scaling::kSuper4, kF16},
    {"q5_k", 5, 32, Scaling::kSuper4, kF16},
    {"q6_k", 6, 16, Scaling::kSuper6, kF16},
    {"affine4_g32_bf16", 4, 32, Scaling::kOffset, kBF16},
    {"affine4_g32_f32", 4, 32, Scaling::kOffset, kF32},
    {"affine4_g64_f16", 4, 64, Scaling::kOffset, kF16},
    {"affine4_g64_bf16", 4, 64, Scaling::kOffset, kBF16},
    {"affine4_g64_f32", 4, 64, Scaling::kOffset, kF32},
    {"affine4_g128_f16", 4, 128, Scaling::kOffset, kF16},
    {"affine4_g128_bf16", 4, 128, Scaling::kOffset, kBF16},
    {"affine4_g128_f32", 4, 128, Scaling::kOffset, kF32},
    {"affine8_g32_f16", 8, 32, Scaling::kOffset, kF16},
    {"affine8_g32_bf16", 8, 32, Scaling::kOffset, kBF16},
    {"affine8_g32_f32", 8, 32, Scaling::kOffset, kF32},
    {"affine8_g64_f16", 8, 64, Scaling::kOffset, kF16},
    {"affine8_g64_bf16", 8, 64, Scaling::kOffset, kBF16},
    {"affine8_g64_f32", 8, 64, Scaling::kOffset, kF32},
    {"affine8_g128_f16", 8, 128, Scaling::kOffset, kF16},
    {"affine8_g128_bf16", 8, 128, Scaling::kOffset, kBF16},
    {"affine8_g128_f32", 8, 128, Scaling::kOffset, kF32},
    {"zero4_g32_f16", 4, 32, Scaling::kZero, kF16},
    {"zero4_g32_bf16", 4, 32, Scaling::kZero, kBF16},
    {"zero4_g64_f16", 4, 64, Scaling::kZero, kF16},
    {"zero4_g64_bf16", 4, 64, Scaling::kZero, kBF16},
    {"zero4_g128_f16", 4, 128, Scaling::kZero, kF16},
    {"zero4_g128_bf16", 4, 128, Scaling::kZero, kBF16},
};
static_assert(std::size(kPackings) == kPackedCount);

/// Reads numbers of a packed matrix, which have no particular alignment.
struct Bytes {
  const std::byte* data;

  uint32_t u8(uint64_t i) const { return uint32_t(data[i]); }
  float number(DType dtype, uint64_t i) const {
    return number_at(dtype, data + i * dtype_bytes(dtype));
  }
  uint32_t nibble(uint64_t i) const { return (u8(i / 2) >> (4 * (i % 2))) & 15; }
};

struct Pair {
  uint32_t scale, offset;
};

/// The 6-bit pairs of a Q4_K or Q5_K super-block. Layout: ggml's get_scale_min_k4.
Pair super_pair(const Bytes& packed, uint64_t group) {
  const auto at = [&](uint64_t i) { return packed.u8(i); };
  if (group < 4) return {at(group) & 63, at(group + 4) & 63};
  return {(at(group + 4) & 15) | (at(group - 4) >> 6 << 4),
          (at(group + 4) >> 4) | (at(group) >> 6 << 4)};
}

}  // namespace

const Packing& packing(DType dtype) {
  TOK_CHECK(is_packed(dtype));
  return kPackings[uint32_t(dtype) - kDTypeCount];
}

std::optional<DType> packed_dtype(uint32_t bits, uint32_t group, Scaling scaling,
                                  DType scale_dtype) {
  for (uint32_t i = 0; i < kPackedCount; ++i) {
    const Packing& p = kPackings[i];
    if (p.bits == bits && p.group == group && p.scaling == scaling &&
        p.scale_dtype == scale_dtype) {
      return DType(kDTypeCount + i);
    }
  }
  return std::nullopt;
}

uint64_t stream_row_bytes(const Packing& p, Stream stream, uint64_t columns) {
  TOK_CHECK(columns % p.row_unit() == 0);
  const uint64_t groups = columns / p.group;
  switch (stream) {
    case Stream::kLow:
      return p.bits == 8 ? columns : columns / 2;
    case Stream::kHigh:
      return p.bits == 5 ? columns / 8 : p.bits == 6 ? columns / 4 : 0;
    case Stream::kScales:
      if (p.scaling == Scaling::kSuper4) return columns / 256 * 16;
      if (p.scaling == Scaling::kSuper6) return groups;
      return groups * dtype_bytes(p.scale_dtype) * (p.scaling == Scaling::kOffset ? 2 : 1);
    case Stream::kZeros:
      if (p.scaling == Scaling::kZero) return ceil_div<uint64_t>(groups, 2);
      return p.scaling == Scaling::kSuper6 ? columns / 256 * 2 : 0;
  }
  return 0;
}

std::array<uint64_t, 5> stream_offsets(const Packing& p, uint64_t rows, uint64_t columns) {
  std::array<uint64_t, 5> offsets{};
  for (size_t i = 0; i < kStreams.size(); ++i) {
    offsets[i + 1] =
        round_up<uint64_t>(offsets[i] + rows * stream_row_bytes(p, kStreams[i], columns), 16);
  }
  return offsets;
}

uint64_t matrix_bytes(DType dtype, uint64_t rows, uint64_t columns) {
  if (is_packed(dtype)) return stream_offsets(packing(dtype), rows, columns).back();
  return rows * columns * dtype_bytes(dtype);
}

float number_at(DType dtype, const std::byte* bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, dtype_bytes(dtype));
  if (dtype == DType::kF32) return std::bit_cast<float>(bits);
  return dtype == DType::kF16 ? f16_to_f32(uint16_t(bits)) : bf16_to_f32(uint16_t(bits));
}

void unpack_row(DType dtype, std::span<const std::byte> bytes, uint64_t rows, uint64_t row,
                std::span<float> out) {
  const Packing& p = packing(dtype);
  const auto offsets = stream_offsets(p, rows, out.size());
  TOK_CHECK(bytes.size() >= offsets.back() && row < rows);
  const auto stream = [&](Stream s) {
    return Bytes{bytes.data() + offsets[size_t(s)] + row * stream_row_bytes(p, s, out.size())};
  };
  const Bytes low = stream(Stream::kLow), high = stream(Stream::kHigh),
              scales = stream(Stream::kScales), zeros = stream(Stream::kZeros);
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t group = i / p.group;
    int32_t q = int32_t(p.bits == 8 ? low.u8(i) : low.nibble(i));
    if (p.bits == 5) q |= int32_t((high.u8(i / 8) >> (i % 8)) & 1) << 4;
    if (p.bits == 6) q |= int32_t((high.u8(i / 4) >> (2 * (i % 4))) & 3) << 4;
    switch (p.scaling) {
      case Scaling::kSymmetric:
        q = p.bits == 8 ? int32_t(int8_t(q)) : q - (1 << (p.bits - 1));
        out[i] = scales.number(p.scale_dtype, group) * float(q);
        break;
      case Scaling::kOffset:
        out[i] = scales.number(p.scale_dtype, 2 * group) * float(q) +
                 scales.number(p.scale_dtype, 2 * group + 1);
        break;
      case Scaling::kZero:
        out[i] = scales.number(p.scale_dtype, group) * float(q - int32_t(zeros.nibble(group)) - 1);
        break;
      case Scaling::kSuper4: {
        const Bytes block{scales.data + i / 256 * 16};
        const Pair pair = super_pair({block.data + 4}, i / 32 % 8);
        out[i] = block.number(kF16, 0) * float(pair.scale) * float(q) -
                 block.number(kF16, 1) * float(pair.offset);
        break;
      }
      case Scaling::kSuper6:
        out[i] = zeros.number(kF16, i / 256) * float(int8_t(scales.u8(group))) * float(q - 32);
        break;
    }
  }
}

}  // namespace tokamak
