#include <algorithm>
#include <utility>

#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

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

TEST(Repack, MultipliesPartsThatHaveAFactor) {
  Checkpoint c;
  c.numbers("v", DType::kF32, {4}, std::vector<float>{1, 2, 3, 4});
  const TensorFile file = c.file();
  Weight weight{{WeightPart("v", 0, 3), WeightPart("v", 3, 1)}, RowOrder::kConcat};
  weight.parts[0].factor = 0.5f;
  TensorDesc vector = constant(4, 1, DType::kF32, weight);
  vector.shape = {4};
  const auto values = [&] {
    const Bytes bytes = constant_bytes(file, vector);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  };
  EXPECT_EQ(values(), (std::vector<float>{0.5f, 1, 1.5f, 4}));
  std::get<Weight>(vector.recipe).add_one = true;
  EXPECT_EQ(values(), (std::vector<float>{1, 1.5f, 2, 5}));
}

/// Two matrices [5, 64], each as 64 rows of 5; in their own type, wider, packed, and some rows.
TEST(Repack, TurnsMatricesOfOneTensor) {
  constexpr size_t kCount = 2, kRows = 5, kColumns = 64;
  Checkpoint c;
  const Bytes halves = c.halves(kCount * kRows * kColumns);
  c.add("turned", DType::kF16, {kCount, kColumns, kRows}, halves);
  Bytes own;
  for (size_t row = 0; row < kCount * kRows; ++row) {
    for (size_t i = 0; i < kColumns; ++i) {
      const size_t from = (row / kRows * kColumns + i) * kRows + row % kRows;
      own.insert(own.end(), halves.data() + 2 * from, halves.data() + 2 * from + 2);
    }
  }
  c.add("own", DType::kF16, {kCount, kRows, kColumns}, own);
  const TensorFile file = c.file();
  for (const DType type : {DType::kF16, DType::kF32, DType::kQ8_0, DType::kQ4_0}) {
    const auto all = [&](const char* name) {
      return constant_bytes(file, constant(kCount * kRows, kColumns, type, {{name}}));
    };
    EXPECT_EQ(all("turned"), all("own")) << dtype_name(type);
  }
  const auto part = [&](const char* name) {
    const Weight rows{{WeightPart(name, 3, 4), WeightPart(name, 1, 1)}, RowOrder::kConcat};
    return constant_bytes(file, constant(5, kColumns, DType::kF16, rows));
  };
  EXPECT_EQ(part("turned"), part("own"));
  const auto found = locate(file, "turned", kCount * kRows, kColumns, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->transposed);
  EXPECT_FALSE(locate(file, "turned", kCount * kRows + 1, kColumns, {}));
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
