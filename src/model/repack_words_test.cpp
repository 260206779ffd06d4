// The packings in words: MLX, GPTQ and AWQ, bit by bit.
#include <utility>

#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

TEST(RepackMlx, KeepsEveryWeight) {
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 6u, 8u}) {
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
            const uint32_t value = bits_at(q, bit, bits);
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
  uint32_t bits;
  Bytes q, scales, zeros;

  Gptq(size_t r, size_t c, size_t g, uint32_t b = 4) : rows(r), columns(c), groups(g), bits(b) {
    q = noise(c * r * b / 8);
    scales = halves(g * r);
    zeros = noise(g * r * b / 8);
    add("x.qweight", DType::kI32, {c * b / 32, r}, q);
    add("x.scales", DType::kF16, {g, r}, scales);
    add("x.qzeros", DType::kI32, {g, r * b / 32}, zeros);
  }
  /// The number at `column` of a column of words, which stand a row of words apart.
  uint32_t number(size_t row, size_t column) const {
    uint32_t value = 0;
    for (uint32_t i = 0; i < bits; ++i) {
      const size_t bit = column * bits + i;
      value |= bits_at(q, (bit / 32 * rows + row) * 32 + bit % 32, 1) << i;
    }
    return value;
  }
  float weight(size_t row, size_t column, size_t group, int more = 1) const {
    const uint32_t zero = bits_at(zeros, (group * rows + row) * bits, bits);
    return half_at(scales.data() + 2 * (group * rows + row)) *
           float(int(number(row, column)) - int(zero) - more);
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

TEST(RepackGptq, ReadsOtherNumbersOfBits) {
  for (const uint32_t bits : {2u, 3u, 8u}) {
    for (const bool sorts : {false, true}) {
      Gptq c(64, 192, 3, bits);
      std::vector<int32_t> groups(192);
      for (size_t i = 0; i < 192; ++i) groups[i] = int32_t(i % 3);
      if (sorts) c.numbers("x.g_idx", DType::kI32, {192}, groups);
      const DType type = *dtype_from_name(fmt::format("zero{}_g64_f16", bits));
      const auto rows = rows_of(c.file(), constant(64, 192, type, {{"x.weight"}}));
      for (size_t r = 0; r < 64; ++r) {
        for (size_t i = 0; i < 192; ++i) {
          const size_t column = sorts ? i % 64 * 3 + i / 64 : i;
          expect_same(c.weight(r, column, i / 64), rows[r][i],
                      fmt::format("{} [{}, {}]", dtype_name(type), r, i));
        }
      }
    }
  }
}

TEST(RepackGptq, TakesZerosOfTheSecondFormat) {
  Gptq c(64, 64, 2);
  const TensorFile file = c.file();
  Quantization declared;
  EXPECT_EQ(dtype_name(locate(file, "x.weight", 64, 64, declared)->dtype), "zero4_g32_f16");
  declared.has_whole_zeros = true;
  const auto stored = locate(file, "x.weight", 64, 64, declared);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(dtype_name(stored->dtype), "point4_g32_f16");
  const auto rows = rows_of(file, constant(64, 64, stored->dtype, {{"x.weight"}}));
  for (size_t i = 0; i < 64; ++i) {
    expect_same(c.weight(3, i, i / 32, 0), rows[3][i], fmt::format("{}", i));
  }
}

TEST(RepackGptq, TakesZerosOfTheSecondFormatByTheirValues) {
  for (const auto& [stored, zero] : {std::pair{0x77, 8}, {0x88, 8}, {0x99, 10}}) {
    Gptq c(16, 64, 2);
    const size_t zeros = size_t(c.infos.back().offset);
    std::fill(c.bytes.begin() + std::ptrdiff_t(zeros), c.bytes.end(), std::byte(stored));
    const TensorFile file = c.file();
    for (const bool says_second : {false, true}) {
      Quantization declared;
      declared.has_whole_zeros = says_second;
      const auto found = locate(file, "x.weight", 16, 64, declared);
      ASSERT_TRUE(found) << found.error().message;
      const bool is_whole = stored == 0x88 || (stored == 0x99 && says_second);
      EXPECT_EQ(weight_format(found->dtype).offset, is_whole ? Offset::kZero : Offset::kNextZero);
    }
    const DType type = locate(file, "x.weight", 64)->dtype;
    const auto rows = rows_of(file, constant(16, 64, type, {{"x.weight"}}));
    for (size_t i = 0; i < 64; ++i) {
      const float scale = half_at(c.scales.data() + i / 32 * 32);
      expect_same(scale * float(int(c.number(0, i)) - zero), rows[0][i],
                  fmt::format("{:x} {}", stored, i));
    }
  }
}

TEST(RepackAwq, KeepsEveryWeight) {
  constexpr size_t kRows = 40, kColumns = 192;
  constexpr size_t kPlaces[] = {0, 4, 1, 5, 2, 6, 3, 7};  // of a row among the 4 bits of its word
  for (const size_t group : {32u, 64u, 192u}) {
    Checkpoint c;
    const size_t groups = kColumns / group;
    const Bytes q = c.noise(kRows * kColumns / 2), zeros = c.noise(kRows * groups / 2);
    const Bytes scales = c.halves(groups * kRows);
    c.add("x.qweight", DType::kI32, {kColumns, kRows / 8}, q);
    c.add("x.qzeros", DType::kI32, {groups, kRows / 8}, zeros);
    c.add("x.scales", DType::kF16, {groups, kRows}, scales);
    const TensorFile file = c.file();
    const auto stored = locate(file, "x.weight", kColumns);
    if (group == 192) {
      EXPECT_NE(stored.error().message.find("per 192 columns"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(dtype_name(stored->dtype), fmt::format("point4_g{}_f16", group));
    const auto rows = rows_of(file, constant(kRows, kColumns, stored->dtype, {{"x.weight"}}));
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t i = 0; i < kColumns; ++i) {
        const auto number = [&](const Bytes& from, size_t line) {
          return int(bits_at(from, (line * kRows + r / 8 * 8 + kPlaces[r % 8]) * 4, 4));
        };
        const float scale = half_at(scales.data() + 2 * (i / group * kRows + r));
        expect_same(scale * float(number(q, i) - number(zeros, i / group)), rows[r][i],
                    fmt::format("{} [{}, {}]", group, r, i));
      }
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

}  // namespace
}  // namespace tokamak
