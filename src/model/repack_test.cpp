#include "model/repack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "base/bits.h"
#include "model/constant_bytes.h"

namespace tokamak {
namespace {

using Bytes = std::vector<std::byte>;

uint32_t u8(const std::byte* bytes, size_t i) {
  return uint32_t(bytes[i]);
}
float half_at(const std::byte* bytes) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return f16_to_f32(bits);
}

/// The 6-bit scale and offset of run `j` of a Q4_K or Q5_K block.
std::pair<uint32_t, uint32_t> six_bits(const std::byte* s, size_t j) {
  if (j < 4) return {u8(s, j) & 63, u8(s, j + 4) & 63};
  return {(u8(s, j + 4) & 15) | (u8(s, j - 4) >> 6 << 4),
          (u8(s, j + 4) >> 4) | (u8(s, j) >> 6 << 4)};
}

/// Weight `e` of a block, as the format describes it and without any table of this engine.
float block_weight(DType type, const std::byte* b, size_t e) {
  const size_t run = e / 64, half = e % 64 / 32, l = e % 32;
  const auto nibble = [&](const std::byte* q) {
    return e < 16 ? u8(q, e) & 15 : u8(q, e - 16) >> 4;
  };
  const auto fifth = [&](const std::byte* q) { return (u8(q, e / 8) >> (e % 8) & 1) << 4; };
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

struct Gguf {
  DType type;
  size_t weights, bytes;
};
constexpr Gguf kGguf[] = {{DType::kQ8_0, 32, 34},   {DType::kQ4_0, 32, 18},
                          {DType::kQ4_1, 32, 20},   {DType::kQ5_0, 32, 22},
                          {DType::kQ5_1, 32, 24},   {DType::kQ4_K, 256, 144},
                          {DType::kQ5_K, 256, 176}, {DType::kQ6_K, 256, 210}};

/// A checkpoint in memory of tensors of any bytes.
struct Checkpoint {
  Bytes bytes;
  std::vector<TensorInfo> infos;
  std::mt19937 random{1};

  TensorInfo& add(std::string name, DType dtype, std::vector<uint64_t> shape, const Bytes& data) {
    infos.push_back({std::move(name), dtype, std::move(shape), 0, bytes.size(), data.size()});
    bytes.insert(bytes.end(), data.begin(), data.end());
    return infos.back();
  }
  Bytes noise(size_t size) {
    Bytes data(size);
    for (std::byte& byte : data) byte = std::byte(random());
    return data;
  }
  Bytes halves(size_t count) {
    Bytes data(2 * count);
    for (size_t i = 0; i < count; ++i) {
      const uint16_t half = f32_to_f16(float(random() % 2000) / 1000 - 1);
      std::memcpy(data.data() + 2 * i, &half, 2);
    }
    return data;
  }
  template <typename T>
  void numbers(std::string name, DType dtype, std::vector<uint64_t> shape,
               const std::vector<T>& values) {
    const auto data = std::as_bytes(std::span(values));
    add(std::move(name), dtype, std::move(shape), Bytes(data.begin(), data.end()));
  }
  TensorFile file() const {
    return *TensorFile::make({memory_source("memory", bytes)}, infos, Json(Json::Object{}));
  }
};

TensorDesc constant(Dim rows, Dim columns, DType dtype, Weight weight) {
  return {"w", {rows, columns}, dtype, Storage::kConstant, std::move(weight), 0};
}

/// The constant as the device gets it, decoded by the reference.
std::vector<std::vector<float>> rows_of(const TensorFile& file, const TensorDesc& constant) {
  const Bytes bytes = constant_bytes(file, constant);
  const size_t rows = size_t(constant.shape[0]), columns = size_t(constant.shape[1]);
  std::vector<std::vector<float>> out(rows, std::vector<float>(columns));
  for (size_t row = 0; row < rows; ++row) unpack_row(constant.dtype, bytes, rows, row, out[row]);
  return out;
}

std::string read_error(const TensorFile& file, const TensorDesc& constant) {
  const auto bytes = constant_bytes(file, constant, 1);
  return bytes ? "" : bytes.error().message;
}

/// Equal, or both no number.
void expect_same(float expected, float actual, const std::string& where) {
  if (std::isnan(expected) && std::isnan(actual)) return;
  EXPECT_EQ(std::bit_cast<uint32_t>(expected), std::bit_cast<uint32_t>(actual)) << where;
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
    WeightPart cut("a.weight", 5, 2);
    cut.rope_heads = 2;
    const auto q = rows_of(file, constant(2, 256, format.type, {{cut}}));
    EXPECT_TRUE(same(q[0], a[6]) && same(q[1], a[5]));
  }
}

TEST(Repack, WidensRowsOfSeveralTypes) {
  Checkpoint c;
  c.add("a.weight", DType::kQ4_K, {8, 256}, c.noise(size_t{8} * 144));
  c.add("b.weight", DType::kQ6_K, {4, 256}, c.noise(size_t{4} * 210));
  c.add("c.weight", DType::kF16, {2, 256}, c.halves(512));
  const TensorFile file = c.file();
  const auto part = [](const char* name, uint32_t first, uint32_t rows, DType type) {
    WeightPart one(name, first, rows);
    one.dtype = type;
    return one;
  };
  Weight mixed{{part("a.weight", 4, 4, DType::kQ4_K), part("b.weight", 0, 4, DType::kQ6_K),
                part("c.weight", 0, 2, DType::kF16)},
               RowOrder::kConcat};
  mixed.parts[0].rope_heads = 2;
  const Bytes bytes = constant_bytes(file, constant(10, 256, DType::kF32, mixed));
  std::vector<float> wide(bytes.size() / sizeof(float));
  std::memcpy(wide.data(), bytes.data(), bytes.size());
  std::vector<std::vector<float>> expected;
  size_t row = 0;
  for (WeightPart one : mixed.parts) {
    const DType type = *std::exchange(one.dtype, std::nullopt);
    const TensorDesc alone = constant(one.rows, 256, type, {{one}});
    if (is_packed(type)) {
      expected = rows_of(file, alone);
    } else {
      expected.assign(one.rows, std::vector<float>(256));
      const Bytes halves = constant_bytes(file, alone);
      for (size_t i = 0; i < expected.size(); ++i) {
        load_floats(type, halves.data() + i * 512, expected[i]);
      }
    }
    for (const auto& values : expected) {
      for (size_t i = 0; i < values.size(); ++i) {
        expect_same(values[i], wide[row * 256 + i], fmt::format("{} {}", row, i));
      }
      ++row;
    }
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
}

TEST(RepackMlx, KeepsEveryWeight) {
  for (const uint32_t bits : {4u, 8u}) {
    for (const uint32_t group : {32u, 64u, 128u}) {
      for (const DType scale : {DType::kF16, DType::kF32}) {
        Checkpoint c;
        constexpr size_t kRows = 5, kColumns = 384;
        const size_t groups = kColumns / group, width = dtype_bytes(scale);
        const Bytes q = c.noise(kRows * kColumns * bits / 8);
        const Bytes scales = c.noise(kRows * groups * width);
        const Bytes biases = c.noise(kRows * groups * width);
        c.add("x.weight", DType::kU32, {kRows, kColumns * bits / 32}, q);
        c.add("x.scales", scale, {kRows, groups}, scales);
        c.add("x.biases", scale, {kRows, groups}, biases);
        const auto type = packed_dtype({.bits = uint8_t(bits),
                                        .group = uint16_t(group),
                                        .scale = scale_of(scale),
                                        .offset = Offset::kStored});
        ASSERT_TRUE(type);
        const auto rows = rows_of(c.file(), constant(kRows, kColumns, *type, {{"x.weight"}}));
        const auto number = [&](const Bytes& from, size_t i) {
          if (scale == DType::kF16) return half_at(from.data() + 2 * i);
          float value = 0;
          std::memcpy(&value, from.data() + 4 * i, 4);
          return value;
        };
        for (size_t r = 0; r < kRows; ++r) {
          for (size_t i = 0; i < kColumns; ++i) {
            const size_t bit = (r * kColumns + i) * bits, at = r * groups + i / group;
            const uint32_t value = u8(q.data(), bit / 8) >> (bit % 8) & ((1u << bits) - 1);
            expect_same(number(scales, at) * float(value) + number(biases, at), rows[r][i],
                        fmt::format("{} [{}, {}]", dtype_name(*type), r, i));
          }
        }
      }
    }
  }
}

/// A GPTQ matrix of noise, its groups as given.
struct Gptq : Checkpoint {
  size_t rows, columns, groups;
  Bytes q, scales, zeros;

  Gptq(size_t r, size_t c, size_t g) : rows(r), columns(c), groups(g) {
    q = noise(c / 8 * r * 4);
    scales = halves(g * r);
    zeros = noise(g * r / 8 * 4);
    add("x.qweight", DType::kI32, {c / 8, r}, q);
    add("x.scales", DType::kF16, {g, r}, scales);
    add("x.qzeros", DType::kI32, {g, r / 8}, zeros);
  }
  /// Nibble `i` of the 32-bit words of `from`, stored [n / 8, row length] with 8 in a word.
  float weight(size_t row, size_t column, size_t group) const {
    const uint32_t value =
        u8(q.data(), (column / 8 * rows + row) * 4 + column % 8 / 2) >> (column % 2 * 4) & 15;
    const uint32_t zero = u8(zeros.data(), group * rows / 2 + row / 2) >> (row % 2 * 4) & 15;
    return half_at(scales.data() + 2 * (group * rows + row)) * float(int(value) - int(zero) - 1);
  }
};

TEST(RepackGptq, KeepsEveryWeight) {
  struct Kind {
    size_t rows, columns, groups;
    uint32_t type_group;
  };
  for (const Kind kind : {Kind{40, 384, 3, 128},
                          {72, 192, 3, 64},
                          {8, 96, 3, 32},
                          {16, 512, 2, 128},
                          {16, 512, 1, 128}}) {
    Gptq c(kind.rows, kind.columns, kind.groups);
    const DType type = *dtype_from_name(fmt::format("zero4_g{}_f16", kind.type_group));
    const auto rows =
        rows_of(c.file(), constant(Dim(kind.rows), Dim(kind.columns), type, {{"x.weight"}}));
    const size_t size = kind.columns / kind.groups;
    for (size_t r = 0; r < kind.rows; ++r) {
      for (size_t i = 0; i < kind.columns; ++i) {
        expect_same(c.weight(r, i, i / size), rows[r][i],
                    fmt::format("{} of {} [{}, {}]", dtype_name(type), size, r, i));
      }
    }
  }
}

TEST(RepackGptq, TakesZerosOfTheSecondFormatByTheirValues) {
  for (const auto& [stored, zero] : {std::pair{0x77, 8}, {0x88, 8}, {0x99, 10}}) {
    Gptq c(16, 64, 2);
    const size_t zeros = size_t(c.infos.back().offset);
    std::fill(c.bytes.begin() + std::ptrdiff_t(zeros), c.bytes.end(), std::byte(stored));
    const DType type = *dtype_from_name("zero4_g32_f16");
    const auto rows = rows_of(c.file(), constant(16, 64, type, {{"x.weight"}}));
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t q = u8(c.q.data(), i / 8 * 64 + i % 8 / 2) >> (i % 2 * 4) & 15;
      const float scale = half_at(c.scales.data() + i / 32 * 32);
      expect_same(scale * float(int(q) - zero), rows[0][i], fmt::format("{:x} {}", stored, i));
    }
  }
}

TEST(RepackGptq, SortsColumnsByGroup) {
  Gptq c(16, 128, 4);
  std::vector<int32_t> groups(128);
  for (size_t i = 0; i < 128; ++i) groups[i] = int32_t(i * 5 % 4);
  c.numbers("x.g_idx", DType::kI32, {128}, groups);
  const TensorFile file = c.file();
  const auto stored = locate(file, "x.weight", 128);
  ASSERT_TRUE(stored) << stored.error().message;
  ASSERT_NE(stored->groups, nullptr);
  const auto order = column_order(file, *stored);
  ASSERT_TRUE(order) << order.error().message;
  const auto rows = rows_of(file, constant(16, 128, stored->dtype, {{"x.weight"}}));
  for (size_t i = 0; i < 128; ++i) {
    const uint32_t column = (*order)[i];
    EXPECT_EQ(size_t(groups[column]), i / 32);
    if (i % 32 != 0) {
      EXPECT_LT((*order)[i - 1], column);
    }
    for (size_t r = 0; r < 16; ++r) {
      expect_same(c.weight(r, column, i / 32), rows[r][i], fmt::format("[{}, {}]", r, i));
    }
  }
  const TensorDesc table{"o", {128}, DType::kU32, Storage::kConstant, ColumnOrder{{"x.g_idx"}}, 0};
  const Bytes bytes = constant_bytes(file, table);
  ASSERT_EQ(bytes.size(), 128 * sizeof(uint32_t));
  EXPECT_EQ(std::memcmp(bytes.data(), order->data(), bytes.size()), 0);
}

TEST(RepackGptq, RefusesGroupsThatAreOutOfRangeOrUneven) {
  const auto error = [](int32_t first, int32_t second) {
    Gptq c(16, 128, 4);
    std::vector<int32_t> groups(128);
    for (size_t i = 0; i < 128; ++i) groups[i] = int32_t(i % 4);
    groups[0] = first;
    groups[5] = second;
    c.numbers("x.g_idx", DType::kI32, {128}, groups);
    const DType type = *dtype_from_name("zero4_g32_f16");
    return read_error(c.file(), constant(16, 128, type, {{"x.weight"}}));
  };
  EXPECT_EQ(error(4, 1),
            "memory: tensor \"x.g_idx\" puts column 0 into group 4, expected one of 4.");
  EXPECT_EQ(error(0, -1),
            "memory: tensor \"x.g_idx\" puts column 5 into group -1, expected one of 4.");
  EXPECT_EQ(error(0, 2), "memory: tensor \"x.g_idx\" puts more than 32 columns into group 2.");
}

/// Matrices of more than a piece: of every layout, joined, alternating and turned.
TEST(Repack, GivesTheSameInSharesAsInPieces) {
  constexpr size_t kRows = 1600, kColumns = 768;
  Checkpoint c;
  std::vector<std::pair<std::string, DType>> matrices;  // and what they become
  for (const Gguf& format : kGguf) {
    const std::string name(dtype_name(format.type));
    c.add(name, format.type, {kRows, kColumns},
          c.noise(kRows * kColumns / format.weights * format.bytes));
    matrices.emplace_back(name, format.type);
  }
  c.add("f16", DType::kF16, {kRows, kColumns}, c.halves(kRows * kColumns));
  for (const DType type : {DType::kF16, DType::kF32, DType::kQ4_0, DType::kQ8_0}) {
    matrices.emplace_back("f16", type);
  }
  c.add("mlx.weight", DType::kU32, {kRows, kColumns / 8}, c.noise(kRows * kColumns / 2));
  c.add("mlx.scales", DType::kF16, {kRows, kColumns / 32}, c.noise(kRows * kColumns / 16));
  c.add("mlx.biases", DType::kF16, {kRows, kColumns / 32}, c.noise(kRows * kColumns / 16));
  matrices.emplace_back("mlx.weight", DType::kQ4_1);
  c.add("gptq.qweight", DType::kI32, {kColumns / 8, kRows}, c.noise(kRows * kColumns / 2));
  c.add("gptq.scales", DType::kF16, {kColumns / 32, kRows}, c.noise(kRows * kColumns / 16));
  c.add("gptq.qzeros", DType::kI32, {kColumns / 32, kRows / 8}, c.noise(kRows * kColumns / 64));
  matrices.emplace_back("gptq.weight", *dtype_from_name("zero4_g32_f16"));
  const TensorFile file = c.file();
  for (const auto& [name, type] : matrices) {
    SCOPED_TRACE(name);
    WeightPart turned(name);
    turned.rope_heads = 50;
    constant_bytes(file, constant(kRows, kColumns, type, {{turned}}));
    // The second part begins where no piece may.
    const Weight joined{{WeightPart(name, 7, 1503), name}, RowOrder::kConcat};
    constant_bytes(file, constant(kRows + 1503, kColumns, type, joined));
    const Weight turns{{name, WeightPart(name, 0, kRows), name}, RowOrder::kInterleave};
    constant_bytes(file, constant(3 * kRows, kColumns, type, turns));
  }
}

std::vector<float> quantized(DType type, const std::vector<float>& row) {
  Checkpoint c;
  c.numbers("x.weight", DType::kF32, {1, row.size()}, row);
  return rows_of(c.file(), constant(1, Dim(row.size()), type, {{"x.weight"}})).front();
}

TEST(Quantize, RoundsToTheNearest) {
  std::mt19937 random(3);
  std::normal_distribution<float> values;
  std::vector<float> row(512);
  for (float& value : row) value = values(random);
  const auto q8 = quantized(DType::kQ8_0, row), q4 = quantized(DType::kQ4_0, row);
  for (size_t at = 0; at < row.size(); at += 32) {
    const auto block = std::span(row).subspan(at, 32);
    const float largest =
        *std::ranges::max_element(block, {}, [](float value) { return std::abs(value); });
    for (size_t i = at; i < at + 32; ++i) {
      // Half a step, and what the scale loses as f16.
      EXPECT_LE(std::abs(q8[i] - row[i]), std::abs(largest) * (0.5f / 127 + 1e-3f));
      EXPECT_LE(std::abs(q4[i] - row[i]), std::abs(largest) * (1.0f / 8 + 1e-3f));
      if (row[i] == largest) {
        EXPECT_NEAR(q4[i] / row[i], 1, 1e-3);
      }
    }
  }
}

TEST(Quantize, IsWhatTheReferenceRoundsTo) {
  // Largest magnitude 8 at a negative value: d = 1, so q = trunc(x + 8.5) of at most 15.
  std::vector<float> row(32, 0);
  row[0] = -8, row[1] = 7.4f, row[2] = 7.6f, row[3] = 0.5f, row[4] = -0.5f, row[5] = 7.99f;
  const auto q4 = quantized(DType::kQ4_0, row);
  EXPECT_EQ(std::vector(q4.begin(), q4.begin() + 6), (std::vector<float>{-8, 7, 7, 1, 0, 7}));
  // Largest 127: d = 1, halves go away from zero.
  row[0] = -127, row[1] = 2.5f, row[2] = -2.5f, row[3] = 0.49f, row[4] = 126.6f, row[5] = 0;
  const auto q8 = quantized(DType::kQ8_0, row);
  EXPECT_EQ(std::vector(q8.begin(), q8.begin() + 6), (std::vector<float>{-127, 3, -3, 0, 127, 0}));
  for (const DType type : {DType::kQ4_0, DType::kQ8_0}) {
    for (const float value : quantized(type, std::vector<float>(32, 0))) EXPECT_EQ(value, 0);
  }
}

TEST(Quantize, DoesNotHideWhatIsNoNumber) {
  for (const DType type : {DType::kQ4_0, DType::kQ8_0}) {
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      std::vector<float> row(64, 1);
      row[40] = bad;
      const auto out = quantized(type, row);
      EXPECT_TRUE(std::isfinite(out[0]));
      EXPECT_TRUE(std::isnan(out[40]));
    }
  }
}

}  // namespace
}  // namespace tokamak
