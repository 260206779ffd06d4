// GGUF's blocks against formulas of their own.
#include <utility>

#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

/// The 6-bit scale and offset of run `j` of a Q4_K or Q5_K block.
std::pair<uint32_t, uint32_t> six_bits(const std::byte* s, size_t j) {
  if (j < 4) return {u8(s, j) & 63, u8(s, j + 4) & 63};
  return {(u8(s, j + 4) & 15) | (u8(s, j - 4) >> 6 << 4),
          (u8(s, j + 4) >> 4) | (u8(s, j) >> 6 << 4)};
}

/// Weight `e` of a block of a type without an enumerator; see block_weight().
float small_block_weight(std::string_view type, const std::byte* b, uint32_t e) {
  constexpr int kIq4[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const auto pair = [&](uint32_t at) {
    return u8(b, at + e / 128 * 32 + e % 32) >> (e % 128 / 32 * 2) & 3;
  };
  const auto nibble = [&](uint32_t at) {
    return u8(b, at + e / 32 * 16 + e % 16) >> (e % 32 / 16 * 4) & 15;
  };
  if (type == "q2_k") {
    const uint32_t s = u8(b, e / 16);
    return half_at(b + 80) * float(s & 15) * float(pair(16)) - half_at(b + 82) * float(s >> 4);
  }
  if (type == "q3_k") {
    const uint32_t g = e / 16;
    const uint32_t s = (g < 8 ? u8(b, 96 + g) & 15 : u8(b, 88 + g) >> 4) |
                       (u8(b, 104 + g % 4) >> (2 * (g / 4)) & 3) << 4;
    const uint32_t q = pair(32) | (u8(b, e % 32) >> (e / 32) & 1) << 2;
    return half_at(b + 108) * float(int(s) - 32) * float(int(q) - 4);
  }
  if (type == "iq4_nl") return half_at(b) * float(kIq4[nibble(2)]);
  if (type == "iq4_xs") {
    const uint32_t g = e / 32, tops = u8(b, 2) | u8(b, 3) << 8;
    const uint32_t s = (u8(b, 4 + g / 2) >> (g % 2 * 4) & 15) | (tops >> (2 * g) & 3) << 4;
    return half_at(b) * float(int(s) - 32) * float(kIq4[nibble(8)]);
  }
  if (type == "mxfp4") {
    const uint32_t q = nibble(1);
    const float scale = u8(b, 0) == 255 ? std::nanf("") : std::exp2(float(u8(b, 0)) - 127);
    return scale * (q <= 8 ? kE2m1[q % 8] : -kE2m1[q - 8]);
  }
  if (type == "tq1_0") {
    const uint32_t at = e < 160 ? e % 32 : e < 240 ? 32 + e % 16 : 48 + e % 4;
    const uint32_t power = e < 160 ? e / 32 : e < 240 ? e / 16 - 10 : e / 4 - 60;
    uint32_t digits = u8(b, at);
    for (uint32_t i = 0; i < power; ++i) digits = digits * 3 % 256;
    return half_at(b + 52) * float(int(digits * 3 / 256) - 1);
  }
  if (type == "tq2_0") return half_at(b + 64) * float(int(pair(0)) - 1);
  if (type == "q1_0") return half_at(b) * ((u8(b, 2 + e / 8) >> e % 8 & 1) != 0 ? 1.0f : -1.0f);
  EXPECT_EQ(type, "q2_0");
  return half_at(b) * float(int(u8(b, 2 + e / 4) >> (e % 4 * 2) & 3) - 1);
}

/// Weight `e` of a block, as the format describes it and without any table of this engine.
float block_weight(DType type, const std::byte* b, size_t e) {
  const size_t run = e / 64, half = e % 64 / 32, l = e % 32;
  const auto nibble = [&](const std::byte* q) {
    return e < 16 ? u8(q, e) & 15 : u8(q, e - 16) >> 4;
  };
  const auto fifth = [&](const std::byte* q) { return (u8(q, e / 8) >> (e % 8) & 1) << 4; };
  if (type > DType::kQ6_K) return small_block_weight(dtype_name(type), b, uint32_t(e));
  switch (type) {
    case DType::kQ8_0:
      return half_at(b) * float(int8_t(u8(b, 2 + e)));
    case DType::kQ4_0:
      return half_at(b) * float(int(nibble(b + 2)) - 8);
    case DType::kQ4_1:
      return half_at(b) * float(nibble(b + 4)) + half_at(b + 2);
    case DType::kQ5_0:
      return half_at(b) * float(int(nibble(b + 6) | fifth(b + 2)) - 16);
    case DType::kQ5_1:
      return half_at(b) * float(nibble(b + 8) | fifth(b + 4)) + half_at(b + 2);
    case DType::kQ4_K:
    case DType::kQ5_K: {
      const std::byte* low = b + (type == DType::kQ4_K ? 16 : 48);
      uint32_t q = u8(low, run * 32 + l) >> (4 * half) & 15;
      if (type == DType::kQ5_K) q |= (u8(b + 16, l) >> (2 * run + half) & 1) << 4;
      const auto [scale, offset] = six_bits(b + 4, e / 32);
      return half_at(b) * float(scale) * float(q) - half_at(b + 2) * float(offset);
    }
    default: {
      const size_t n = e / 128, k = e % 128 / 32;
      const uint32_t low = u8(b, n * 64 + k % 2 * 32 + l) >> (k / 2 * 4) & 15;
      const uint32_t high = u8(b + 128, n * 32 + l) >> (2 * k) & 3;
      const auto scale = int8_t(u8(b + 192, n * 8 + 2 * k + l / 16));
      return half_at(b + 208) * float(scale) * float(int(low | high << 4) - 32);
    }
  }
}

TEST(RepackGguf, KeepsEveryWeightOfRandomBlocks) {
  constexpr size_t kRows = 37, kColumns = 768;
  for (const Gguf& format : kGguf) {
    Checkpoint c;
    const size_t row = kColumns / format.weights * format.bytes;
    const Bytes blocks = c.noise(kRows * row);
    c.add("a.weight", format.type, {kRows, kColumns}, blocks);
    const auto rows = rows_of(c.file(), constant(kRows, kColumns, format.type, {{"a.weight"}}));
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t i = 0; i < kColumns; ++i) {
        const std::byte* block = blocks.data() + r * row + i / format.weights * format.bytes;
        expect_same(block_weight(format.type, block, i % format.weights), rows[r][i],
                    fmt::format("{} [{}, {}]", dtype_name(format.type), r, i));
      }
    }
  }
}

TEST(RepackGguf, JoinsAlternatesCutsAndTurnsRows) {
  for (const Gguf& format : kGguf) {
    Checkpoint c;
    const size_t row = 256 / format.weights * format.bytes;
    c.add("a.weight", format.type, {8, 256}, c.noise(8 * row));
    c.add("b.weight", format.type, {2, 4, 256}, c.noise(8 * row));
    const TensorFile file = c.file();
    const auto all = [&](const char* name) {
      return rows_of(file, constant(8, 256, format.type, {{name}}));
    };
    const auto a = all("a.weight"), b = all("b.weight");
    const auto same = [&](const std::vector<float>& x, const std::vector<float>& y) {
      return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    const Weight joined{{WeightPart("a.weight", 6, 2), "b.weight"}, RowOrder::kConcat};
    const auto j = rows_of(file, constant(10, 256, format.type, joined));
    EXPECT_TRUE(same(j[0], a[6]) && same(j[1], a[7]) && same(j[2], b[0]) && same(j[9], b[7]));
    const Weight turns{{"a.weight", "b.weight"}, RowOrder::kInterleave};
    const auto t = rows_of(file, constant(16, 256, format.type, turns));
    EXPECT_TRUE(same(t[0], a[0]) && same(t[1], b[0]) && same(t[14], a[7]) && same(t[15], b[7]));
    // Two heads of four rows: the file has halves row by row.
    WeightPart part("a.weight");
    part.rope_heads = 2;
    const auto r = rows_of(file, constant(8, 256, format.type, {{part}}));
    const size_t order[] = {0, 2, 1, 3, 4, 6, 5, 7};
    for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(same(r[i], a[order[i]])) << i;
    // One head, of which the last six rows are in that order.
    part.rope_heads = 1;
    part.turned = 6;
    const auto l = rows_of(file, constant(8, 256, format.type, {{part}}));
    const size_t last[] = {0, 1, 2, 4, 6, 3, 5, 7};
    for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(same(l[i], a[last[i]])) << i;
    WeightPart cut("a.weight", 5, 2);
    cut.rope_heads = 2;
    const auto q = rows_of(file, constant(2, 256, format.type, {{cut}}));
    EXPECT_TRUE(same(q[0], a[6]) && same(q[1], a[5]));
  }
}

TEST(RepackGguf, RefusesHeadsThatDoNotFitTheRows) {
  Checkpoint c;
  c.add("a.weight", DType::kQ8_0, {9, 32}, c.noise(9 * 34));
  WeightPart part("a.weight");
  part.rope_heads = 2;
  EXPECT_EQ(read_error(c.file(), constant(9, 32, DType::kQ8_0, {{part}})),
            "memory: tensor \"a.weight\" is q8_0[9, 32], expected rows in 2 heads of an even "
            "number.");
  part.rope_heads = 3;
  c.add("b.weight", DType::kQ8_0, {12, 32}, c.noise(12 * 34));
  part.name = "b.weight";
  part.turned = 6;
  EXPECT_EQ(read_error(c.file(), constant(12, 32, DType::kQ8_0, {{part}})),
            "memory: tensor \"b.weight\" is q8_0[12, 32], expected heads whose last 6 rows turn.");
}

}  // namespace
}  // namespace tokamak
