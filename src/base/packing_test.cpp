#include "base/packing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/bits.h"

namespace tokamak {
namespace {

std::vector<DType> every_packed_type() {
  std::vector<DType> all;
  for (size_t i = 0; i < weight_formats().size(); ++i) all.push_back(packed_type(i));
  return all;
}

TEST(WeightFormat, NamesAreUniqueAndPropertiesFindALikeType) {
  std::set<std::string_view> names;
  for (const DType dtype : every_packed_type()) {
    const WeightFormat& f = weight_format(dtype);
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_EQ(dtype_from_name(f.name), dtype);
    EXPECT_TRUE(is_matrix_dtype(dtype) && !is_float_weight(dtype));
    EXPECT_EQ(f.code == Code::kLevels, f.levels != nullptr) << f.name;
    EXPECT_TRUE(f.group % 8 == 0 && f.row_unit() % f.group == 0) << f.name;
    // Another may have the same properties, and then every stream is as long.
    const DType first = packed_dtype(f).value();
    EXPECT_LE(first, dtype);
    EXPECT_EQ(matrix_bytes(first, 3, 256), matrix_bytes(dtype, 3, 256)) << f.name;
  }
  EXPECT_EQ(weight_format(DType::kQ6_K).name, "q6_k");
  EXPECT_EQ(packed_dtype({.bits = 4, .group = 48, .offset = Offset::kStored}), std::nullopt);
}

TEST(WeightFormat, LevelsAreExactInUnits) {
  for (const DType dtype : every_packed_type()) {
    const Levels* levels = weight_format(dtype).levels;
    if (levels == nullptr || levels->unit == 0) continue;
    for (uint32_t q = 0; q < levels->values.size(); ++q) {
      EXPECT_EQ(float(int8_t(levels->values[q])), levels->values[q]) << dtype_name(dtype);
      EXPECT_EQ(levels->at(q) / levels->unit, levels->values[q]) << dtype_name(dtype);
    }
  }
}

TEST(WeightFormat, RecognizesEveryByteOfF8E4M3) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const int exponent = int(bits >> 3 & 15), fraction = int(bits & 7);
    const double size =
        exponent == 0 ? fraction / 512.0 : (8 + fraction) * std::exp2(exponent - 10);
    const float value = e4m3_to_f32(uint8_t(bits));
    if ((bits & 127) == 127) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(double(value), bits < 128 ? size : -size) << bits;
    }
  }
}

TEST(WeightFormat, TakesTheBytesOfTheFilesBlocks) {
  const auto bytes = [](DType dtype) { return matrix_bytes(dtype, 16, 256); };
  EXPECT_EQ(bytes(DType::kQ8_0), 16u * 8 * 34);
  EXPECT_EQ(bytes(DType::kQ4_0), 16u * 8 * 18);
  EXPECT_EQ(bytes(DType::kQ4_1), 16u * 8 * 20);
  EXPECT_EQ(bytes(DType::kQ5_0), 16u * 8 * 22);
  EXPECT_EQ(bytes(DType::kQ5_1), 16u * 8 * 24);
  EXPECT_EQ(bytes(DType::kQ4_K), 16u * 144);
  EXPECT_EQ(bytes(DType::kQ5_K), 16u * 176);
  EXPECT_EQ(bytes(DType::kQ6_K), 16u * 210);
  EXPECT_EQ(bytes(DType::kBF16), 16u * 512);
  EXPECT_EQ(bytes(dtype_from_name("zero4_g128_f16").value()), 16u * (128 + 4 + 2));
  EXPECT_EQ(bytes(dtype_from_name("q2_k").value()), 16u * 84);
  EXPECT_EQ(bytes(dtype_from_name("q3_k").value()), 16u * 114);  // 6-bit scales become bytes
  EXPECT_EQ(bytes(dtype_from_name("iq4_xs").value()), 16u * 138);
  EXPECT_EQ(bytes(dtype_from_name("mxfp4").value()), 16u * 136);
  EXPECT_EQ(bytes(dtype_from_name("nvfp4").value()), 16u * (144 + 4));
  EXPECT_EQ(bytes(dtype_from_name("affine3_g64_bf16").value()), 16u * (96 + 16));
}

TEST(WeightFormat, StreamsBeginAtMultiplesOfSixteenBytes) {
  for (const DType dtype : every_packed_type()) {
    const auto offsets = stream_offsets(weight_format(dtype), 3, 256);
    for (size_t i = 0; i < kStreams.size(); ++i) {
      EXPECT_EQ(offsets[i] % 16, 0u);
      const uint64_t bytes = 3 * stream_row_bytes(weight_format(dtype), kStreams[i], 256);
      EXPECT_GE(offsets[i + 1] - offsets[i], bytes);
      EXPECT_LT(offsets[i + 1] - offsets[i], bytes + 16);
    }
  }
}

/// Writes little-endian fields at places of a buffer.
struct Image {
  std::vector<std::byte> bytes;
  void put(uint64_t at, const auto& value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
};

/// The second of two rows of 256 weights, q = 0, 1, 2, ... modulo 2^bits; group g has scale g + 1
/// (2^(g % 8) where that is a byte of an exponent), offset -g, zero g % 16.
std::vector<float> unpack_counting_row(DType dtype) {
  const WeightFormat& f = weight_format(dtype);
  const uint64_t rows = 2, columns = 256;
  const auto offsets = stream_offsets(f, rows, columns);
  const auto row_of = [&](Stream s) {
    return offsets[size_t(s)] + stream_row_bytes(f, s, columns);
  };
  Image image{std::vector<std::byte>(offsets.back())};
  for (uint32_t i = 0; i < columns; ++i) {
    const uint32_t q = i % (1u << f.bits), low = f.low_bits();
    const auto add = [&](Stream s, uint32_t width, uint32_t value) {
      if (width == 0) return;
      std::byte& byte = image.bytes[row_of(s) + i * width / 8];
      byte |= std::byte(value << (i * width % 8));
    };
    add(Stream::kLow, low, q & ((1u << low) - 1));
    add(Stream::kHigh, f.high_bits(), q >> low);
  }
  const auto put_number = [&](uint64_t index, float value) {
    const uint64_t at = row_of(Stream::kScales) + index * dtype_bytes(f.scale_dtype());
    if (f.scale == ScaleType::kF32) image.put(at, value);
    if (f.scale == ScaleType::kF16) image.put(at, f32_to_f16(value));
    if (f.scale == ScaleType::kBF16) image.put(at, f32_to_bf16(value));
  };
  const bool is_pair = f.offset == Offset::kStored;
  for (uint32_t g = 0; g < columns / f.group; ++g) {
    const uint64_t byte = row_of(Stream::kScales) + g;
    if (f.scale == ScaleType::kE8M0) {
      image.put(byte, uint8_t(127 + g % 8));
    } else if (f.scale == ScaleType::kE4M3) {
      image.put(byte, uint8_t((7 + g % 8) << 3));
    } else if (f.scale == ScaleType::kBytes) {
      image.put(byte, uint8_t(g + 1));
    } else {
      put_number(is_pair ? 2 * g : g, float(g + 1));
    }
    if (is_pair) put_number(2 * g + 1, -float(g));
    if (f.has_zeros()) image.put(row_of(Stream::kZeros) + g, uint8_t(g % 16));
  }
  if (f.scale == ScaleType::kE4M3) image.put(row_of(Stream::kZeros), 0.5f);
  if (f.scale == ScaleType::kBytes) image.put(row_of(Stream::kZeros), f32_to_f16(0.5f));
  std::vector<float> out(columns);
  unpack_row(dtype, image.bytes, rows, 1, out);
  return out;
}

TEST(WeightFormat, EveryPatternIsWhatTheFormulaSays) {
  for (const DType dtype : every_packed_type()) {
    const WeightFormat& f = weight_format(dtype);
    if (f.scale == ScaleType::kPairs4 || f.scale == ScaleType::kPairs6) continue;
    const std::vector<float> row = unpack_counting_row(dtype);
    for (uint32_t i = 0; i < row.size(); ++i) {
      const int q = int(i % (1u << f.bits)), g = int(i / f.group);
      float scale = float(g + 1);
      if (f.scale == ScaleType::kE8M0) scale = std::exp2(float(g % 8));
      if (f.scale == ScaleType::kE4M3) scale = std::exp2(float(g % 8)) / 2;
      if (f.scale == ScaleType::kBytes) scale /= 2;
      float value = float(q);
      if (f.code == Code::kE4M3) value = e4m3_to_f32(uint8_t(q));
      if (f.code == Code::kLevels) value = f.levels->at(uint32_t(q));
      if (f.offset == Offset::kMiddle) {
        value = float(f.bits == 8 ? (q < 128 ? q : q - 256) : q - (1 << (f.bits - 1)));
      }
      if (f.offset == Offset::kZero) value = float(q - g % 16);
      if (f.offset == Offset::kNextZero) value = float(q - g % 16 - 1);
      const float offset = f.offset == Offset::kStored ? float(g) : 0.0f;
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(row[i])) << f.name;
      } else {
        ASSERT_EQ(row[i], scale * value - offset) << f.name << " weight " << i;
      }
    }
  }
}

TEST(WeightFormat, SuperBlocksOfTwoBits) {
  const DType dtype = dtype_from_name("q2_k").value();
  const auto offsets = stream_offsets(weight_format(dtype), 1, 256);
  Image image{std::vector<std::byte>(offsets.back())};
  for (uint32_t i = 0; i < 64; ++i) image.put(i, uint8_t(0xe4));  // q = 0, 1, 2, 3, 0, ...
  const uint64_t scales = offsets[size_t(Stream::kScales)];
  image.put(scales, f32_to_f16(0.5f));
  image.put(scales + 2, f32_to_f16(0.25f));
  for (uint32_t g = 0; g < 16; ++g) image.put(scales + 4 + g, uint8_t(g | (15 - g) << 4));
  std::vector<float> out(256);
  unpack_row(dtype, image.bytes, 1, 0, out);
  for (uint32_t i = 0; i < 256; ++i) {
    const float s = float(i / 16), o = 15 - s;
    ASSERT_EQ(out[i], 0.5f * s * float(i % 4) - 0.25f * o) << i;
  }
}

TEST(WeightFormat, SuperBlocksOfFourBits) {
  const WeightFormat& p = weight_format(DType::kQ4_K);
  const auto offsets = stream_offsets(p, 1, 256);
  Image image{std::vector<std::byte>(offsets.back())};
  for (uint32_t i = 0; i < 128; ++i) image.put(i, uint8_t(0x21));  // q = 1, 2, 1, 2, ...
  const uint64_t scales = offsets[size_t(Stream::kScales)];
  image.put(scales, f32_to_f16(0.5f));
  image.put(scales + 2, f32_to_f16(0.25f));
  // Groups 0-3: 6 bits each; groups 4-7: 4 bits in the last bytes, 2 more on top of the others'.
  for (uint32_t g = 0; g < 4; ++g) {
    image.put(scales + 4 + g, uint8_t((10 + g) | (g << 6)));
    image.put(scales + 8 + g, uint8_t((20 + g) | (3 - g) << 6));
    image.put(scales + 12 + g, uint8_t(5 | 7 << 4));
  }
  std::vector<float> out(256);
  unpack_row(DType::kQ4_K, image.bytes, 1, 0, out);
  for (uint32_t g = 0; g < 8; ++g) {
    const float s = g < 4 ? float(10 + g) : float(5 + 16 * (g - 4));
    const float o = g < 4 ? float(20 + g) : float(7 + 16 * (7 - g));
    ASSERT_EQ(out[32 * g], 0.5f * s - 0.25f * o) << g;
    ASSERT_EQ(out[32 * g + 1], 0.5f * s * 2 - 0.25f * o) << g;
  }
}

TEST(WeightFormat, SuperBlocksOfSixBits) {
  const WeightFormat& p = weight_format(DType::kQ6_K);
  const auto offsets = stream_offsets(p, 1, 256);
  Image image{std::vector<std::byte>(offsets.back())};
  image.put(offsets[size_t(Stream::kLow)], uint8_t(0x4f));   // low bits 15, 4
  image.put(offsets[size_t(Stream::kHigh)], uint8_t(0x0b));  // high bits 3, 2
  for (int g = 0; g < 16; ++g)
    image.put(offsets[size_t(Stream::kScales)] + uint64_t(g), int8_t(g - 8));
  image.put(offsets[size_t(Stream::kZeros)], f32_to_f16(0.5f));
  std::vector<float> out(256);
  unpack_row(DType::kQ6_K, image.bytes, 1, 0, out);
  EXPECT_EQ(out[0], 0.5f * -8 * 31);  // q = 63
  EXPECT_EQ(out[1], 0.5f * -8 * 4);   // q = 36
  EXPECT_EQ(out[255], 0.5f * 7 * -32);
}

}  // namespace
}  // namespace tokamak
