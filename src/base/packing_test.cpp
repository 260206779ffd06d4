#include "base/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/bits.h"

namespace tokamak {
namespace {

std::vector<DType> every_packed_type() {
  std::vector<DType> all;
  for (uint32_t i = kDTypeCount; i < kDTypeCount + kPackedCount; ++i) all.push_back(DType(i));
  return all;
}

TEST(Packing, NamesAreUniqueAndPropertiesFindTheType) {
  std::set<std::string_view> names;
  for (const DType dtype : every_packed_type()) {
    const Packing& p = packing(dtype);
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_EQ(dtype_from_name(p.name), dtype);
    EXPECT_EQ(packed_dtype(p.bits, p.group, p.scaling, p.scale_dtype), dtype) << p.name;
    EXPECT_TRUE(is_matrix_dtype(dtype) && !is_float_weight(dtype));
  }
  EXPECT_EQ(packing(DType::kQ6_K).name, "q6_k");
  EXPECT_EQ(packed_dtype(4, 48, Scaling::kOffset, DType::kF16), std::nullopt);
}

TEST(Packing, TakesTheBytesOfTheFilesBlocks) {
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
  const DType gptq = packed_dtype(4, 128, Scaling::kZero, DType::kF16).value();
  EXPECT_EQ(bytes(gptq), 16u * (128 + 4 + 1));
}

TEST(Packing, StreamsBeginAtMultiplesOfSixteenBytes) {
  for (const DType dtype : every_packed_type()) {
    const auto offsets = stream_offsets(packing(dtype), 3, 256);
    for (size_t i = 0; i < kStreams.size(); ++i) {
      EXPECT_EQ(offsets[i] % 16, 0u);
      const uint64_t bytes = 3 * stream_row_bytes(packing(dtype), kStreams[i], 256);
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

/// The second of two rows of 256 weights, q = 0, 1, 2, ... modulo 2^bits; group g has scale g + 1,
/// offset -g, zero g % 16.
std::vector<float> unpack_counting_row(DType dtype) {
  const Packing& p = packing(dtype);
  const uint64_t rows = 2, columns = 256;
  const auto offsets = stream_offsets(p, rows, columns);
  const auto row_of = [&](Stream s) {
    return offsets[size_t(s)] + stream_row_bytes(p, s, columns);
  };
  Image image{std::vector<std::byte>(offsets.back())};
  for (uint32_t i = 0; i < columns; ++i) {
    const uint32_t q = i % (1u << p.bits);
    const auto add = [&](Stream s, uint32_t index, uint32_t width, uint32_t value) {
      std::byte& byte = image.bytes[row_of(s) + index * width / 8];
      byte |= std::byte(value << (index * width % 8));
    };
    if (p.bits == 8) {
      add(Stream::kLow, i, 8, q);
    } else {
      add(Stream::kLow, i, 4, q & 15);
      if (p.bits > 4) add(Stream::kHigh, i, p.bits - 4u, q >> 4);
    }
  }
  const auto put_number = [&](uint64_t index, float value) {
    const uint64_t at = row_of(Stream::kScales) + index * dtype_bytes(p.scale_dtype);
    if (p.scale_dtype == DType::kF32) image.put(at, value);
    if (p.scale_dtype == DType::kF16) image.put(at, f32_to_f16(value));
    if (p.scale_dtype == DType::kBF16) image.put(at, f32_to_bf16(value));
  };
  for (uint32_t g = 0; g < columns / p.group; ++g) {
    put_number(p.scaling == Scaling::kOffset ? 2 * g : g, float(g + 1));
    if (p.scaling == Scaling::kOffset) put_number(2 * g + 1, -float(g));
    if (p.scaling == Scaling::kZero) {
      image.bytes[row_of(Stream::kZeros) + g / 2] |= std::byte((g % 16) << (g % 2 * 4));
    }
  }
  std::vector<float> out(columns);
  unpack_row(dtype, image.bytes, rows, 1, out);
  return out;
}

TEST(Packing, EveryPatternIsWhatTheFormulaSays) {
  for (const DType dtype : every_packed_type()) {
    const Packing& p = packing(dtype);
    if (p.scaling == Scaling::kSuper4 || p.scaling == Scaling::kSuper6) continue;
    const std::vector<float> row = unpack_counting_row(dtype);
    for (uint32_t i = 0; i < row.size(); ++i) {
      const int q = int(i % (1u << p.bits)), g = int(i / p.group);
      const int centred = p.bits == 8 ? (q < 128 ? q : q - 256) : q - (1 << (p.bits - 1));
      const int expected = p.scaling == Scaling::kSymmetric ? (g + 1) * centred
                           : p.scaling == Scaling::kOffset  ? (g + 1) * q - g
                                                            : (g + 1) * (q - g % 16 - 1);
      ASSERT_EQ(row[i], float(expected)) << p.name << " weight " << i;
    }
  }
}

TEST(Packing, SuperBlocksOfFourBits) {
  const Packing& p = packing(DType::kQ4_K);
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

TEST(Packing, SuperBlocksOfSixBits) {
  const Packing& p = packing(DType::kQ6_K);
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
