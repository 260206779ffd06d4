// The rows that the encoders write, read back by the decoders of the engine.
#include "quantize/encode.h"

#include <cmath>
#include <limits>

#include "model/repack_checkpoint_test.h"

namespace tokamak {
namespace {

constexpr std::string_view kPacked[] = {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1",
                                        "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};

DType type_of(std::string_view name) {
  return dtype_from_name(name).value();
}

Bytes encoded(std::string_view type, const std::vector<float>& row,
              std::span<const float> importance = {}) {
  Bytes out(size_t(block_row_bytes(type_of(type), row.size())));
  const auto done = encode_row(type_of(type), row, importance, out.data());
  EXPECT_TRUE(done) << done.error().message;
  return out;
}

std::vector<float> decoded(std::string_view type, const Bytes& blocks, size_t columns) {
  Checkpoint c;
  c.add("a.weight", type_of(type), {1, columns}, blocks);
  const TensorFile file = c.file();
  const auto stored = locate(file, "a.weight", columns);
  EXPECT_TRUE(stored) << stored.error().message;
  auto rows = open_rows(file, *stored, type_of(type));
  EXPECT_TRUE(rows) << rows.error().message;
  const auto wide = widen_rows(*std::move(rows), type_of(type), columns);
  std::vector<float> out(columns);
  const auto bytes = std::as_writable_bytes(std::span(out));
  EXPECT_TRUE(wide->write(Stream::kLow, 0, 1, bytes.data(), bytes.size()));
  return out;
}

std::vector<float> round_trip(std::string_view type, const std::vector<float>& row) {
  return decoded(type, encoded(type, row), row.size());
}

/// Weights as models have them: normal, a hundredth large.
std::vector<float> weights(size_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> out(count);
  for (float& value : out) {
    double sum = -6;  // of twelve uniform numbers: the same on every library
    for (int i = 0; i < 12; ++i) sum += double(random()) / 4294967296.0;
    value = float(0.01 * sum);
  }
  return out;
}

/// The root mean square of the differences, by that of `expected`.
double relative_error(const std::vector<float>& expected, const std::vector<float>& found,
                      std::span<const float> importance = {}) {
  double off = 0, all = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double w = importance.empty() ? 1 : double(importance[i]);
    off += w * std::pow(double(expected[i]) - double(found[i]), 2);
    all += w * std::pow(double(expected[i]), 2);
  }
  return std::sqrt(off / all);
}

struct Bound {
  std::string_view type;
  double error;
};

TEST(Encode, IsAsExactAsGgml) {
  // The errors of libggml 0.5.0 (ggml_quantize_chunk, dequantize_row_*) on 16384 weights of this
  // distribution; a hundredth more for the chance of the draw.
  constexpr Bound kGgml[] = {{"q8_0", 0.00535}, {"q5_1", 0.03786}, {"q5_0", 0.04271},
                             {"q4_1", 0.07777}, {"q4_0", 0.08589}, {"q6_k", 0.01773},
                             {"q5_k", 0.03632}, {"q4_k", 0.07100}, {"q3_k", 0.15146},
                             {"q2_k", 0.29678}};
  const auto row = weights(64 * 256);
  for (const auto& [type, error] : kGgml) {
    EXPECT_LT(relative_error(row, round_trip(type, row)), 1.01 * error) << type;
  }
}

TEST(Encode, FindsAgainWhatItHasWritten) {
  for (const std::string_view type : kPacked) {
    const auto row = weights(64 * 256);
    const auto once = round_trip(type, row);
    const double again = relative_error(once, round_trip(type, once));
    // A run that does not use its lowest number has other pairs of factors that are as good, and
    // some of those are no multiples of the block's.
    const bool has_others = type == "q2_k" || type == "q4_k" || type == "q5_k" || type == "q6_k";
    EXPECT_LE(again, has_others ? 0.1 * relative_error(row, once) : 0) << type;
  }
}

TEST(Encode, KeepsZeros) {
  for (const std::string_view type : kPacked) {
    for (const float value : round_trip(type, std::vector<float>(512))) {
      EXPECT_EQ(value, 0.0f) << type;
    }
  }
}

TEST(Encode, MakesZerosOfNumbersThatAreNearlyNone) {
  std::vector<float> row(256);
  for (size_t i = 0; i < row.size(); ++i) row[i] = float(i % 7) * 1e-40f;
  for (const std::string_view type : kPacked) {
    for (const float value : round_trip(type, row)) EXPECT_EQ(value, 0.0f) << type;
  }
}

TEST(Encode, KeepsBlocksOfOneNumber) {
  for (const std::string_view type : kPacked) {
    for (const float number : {0.25f, -0.25f}) {
      for (const float value : round_trip(type, std::vector<float>(256, number))) {
        EXPECT_NEAR(value, number, 0.002) << type;
      }
    }
  }
}

TEST(Encode, KeepsAnOutlier) {
  for (const std::string_view type : kPacked) {
    auto row = weights(256);
    row[100] = -3;
    const auto found = round_trip(type, row);
    EXPECT_NEAR(found[100], -3, 0.2) << type;
    // The other end of the block shares a scale with it only in types with one for 256.
    EXPECT_NEAR(found[255], row[255], 0.06) << type;
  }
}

TEST(Encode, ImportantColumnsLoseAsLittleAsGgml) {
  // The errors of libggml as above, with every fourth column a hundred times as important.
  constexpr Bound kGgml[] = {{"q6_k", 0.01423},
                             {"q5_k", 0.03002},
                             {"q4_k", 0.05624},
                             {"q3_k", 0.11303},
                             {"q2_k", 0.17941}};
  const auto row = weights(64 * 256);
  std::vector<float> importance(row.size());
  for (size_t i = 0; i < importance.size(); ++i) importance[i] = i % 4 == 0 ? 100 : 1;
  for (const auto& [type, error] : kGgml) {
    const auto found = decoded(type, encoded(type, row, importance), row.size());
    EXPECT_LT(relative_error(row, found, importance), 1.01 * error) << type;
    EXPECT_LT(relative_error(row, found, importance),
              0.95 * relative_error(row, round_trip(type, row), importance));
  }
  for (const std::string_view type : {"q5_1", "q5_0", "q4_1", "q4_0"}) {
    const auto found = decoded(type, encoded(type, row, importance), row.size());
    EXPECT_LT(relative_error(row, found, importance),
              0.95 * relative_error(row, round_trip(type, row), importance))
        << type;
  }
  EXPECT_EQ(encoded("q8_0", row, importance), encoded("q8_0", row));
}

TEST(Encode, RefusesWhatTheTypeCannotHold) {
  const auto message = [](std::string_view type, float value) {
    std::vector<float> row(256);
    row[3] = value;
    std::vector<std::byte> out(1024);
    const auto done = encode_row(type_of(type), row, {}, out.data());
    return done ? "no error" : done.error().message;
  };
  EXPECT_EQ(message("q4_k", std::numeric_limits<float>::quiet_NaN()),
            "column 3 is nan, expected a finite number");
  EXPECT_EQ(message("f32", -std::numeric_limits<float>::infinity()),
            "column 3 is -inf, expected a finite number");
  EXPECT_EQ(message("f16", 70000),
            "column 3 is 70000, beyond the 65504 that f16 holds; bf16 holds it");
  EXPECT_EQ(message("bf16", 70000), "no error");
}

TEST(Encode, RoundsFloatsToTheNearest) {
  const std::vector<float> row{1.0f, 1.0f + 0x1p-11f, -2.5f};
  std::vector<std::byte> out(6);
  ASSERT_TRUE(encode_row(DType::kF16, row, {}, out.data()));
  EXPECT_EQ(half_at(out.data()), 1.0f);
  EXPECT_EQ(half_at(out.data() + 2), 1.0f);
  EXPECT_EQ(half_at(out.data() + 4), -2.5f);
}

}  // namespace
}  // namespace tokamak
