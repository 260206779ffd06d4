#include "kernels/cpu/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cpu/panels.h"
#include "kernels/quant/random_matrix.h"

namespace tokamak {
namespace {

constexpr uint32_t kRows = 333, kColumns = 512, kTokens = 11;

struct Product {
  explicit Product(DType dtype, uint32_t tokens = kTokens, bool is_exact = false)
      : layout(dtype, kRows, kColumns, is_exact),
        panels(size_t(layout.bytes())),
        x(tokens * kColumns) {
    std::mt19937 random(3);
    const std::vector<std::byte> streams = random_matrix(dtype, kRows, kColumns, 1, random);
    pack_panels(layout, streams, 0, layout.panels(), panels.data());
    for (float& value : x) value = std::normal_distribution<float>()(random);
    w = {panels.data(), dtype, {kRows, kColumns}, &layout};
  }

  std::vector<float> run(uint32_t threads, std::span<const float> rows,
                         const TileUnit* unit = nullptr) const {
    ThreadPool pool(threads);
    std::vector<float> y(rows.size() / kColumns * kRows);
    const PartProduct all{.count = kRows, .y = y.data(), .y_stride = kRows};
    multiply(pool, rows, w, nullptr, std::span(&all, 1), unit);
    return y;
  }

  PanelLayout layout;
  std::vector<std::byte> panels;
  std::vector<float> x;
  CpuTensor w;
};

TEST(Products, AreTheSameBitsForAnyNumberOfThreadsAndRows) {
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    const DType dtype = packed_type(i);
    if (!multiplies_tiles(dtype)) continue;  // those whose products are of words otherwise
    SCOPED_TRACE(dtype_name(dtype));
    const Product product(dtype);
    const std::vector<float> all = product.run(1, product.x);
    EXPECT_EQ(product.run(7, product.x), all);
    for (const auto& [t, rows] : {std::pair{0u, 1u}, {7u, 1u}, {10u, 1u}, {3u, 2u}}) {
      const auto few = std::span(product.x).subspan(t * kColumns, rows * kColumns);
      const std::vector<float> alone = product.run(1, few);
      EXPECT_TRUE(std::ranges::equal(alone, std::span(all).subspan(t * kRows, rows * kRows)))
          << rows << " rows from " << t << " on";
    }
  }
}

TEST(Products, RoundNothingWhereTheyAreToBeExact) {
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    SCOPED_TRACE(dtype_name(packed_type(i)));
    const Product product(packed_type(i), kTokens, /*is_exact=*/true);
    const std::vector<float> y = product.run(3, product.x);
    std::vector<float> row(kColumns);
    double largest = 0, worst = 0;
    for (size_t r = 0; r < kRows; ++r) {
      product.w.load_row(r, row);
      for (size_t t = 0; t < kTokens; ++t) {
        double sum = 0;
        for (size_t c = 0; c < kColumns; ++c) {
          sum += double(row[c]) * double(product.x[t * kColumns + c]);
        }
        largest = std::max(largest, std::abs(sum));
        worst = std::max(worst, std::abs(sum - double(y[t * kRows + r])));
      }
    }
    EXPECT_LE(worst, 2e-6 * largest);
  }
}

TEST(Products, OfWhatIsNoNumberAreNone) {
  Product product(DType::kQ4_0);
  product.x[3 * kColumns + 40] = std::numeric_limits<float>::infinity();
  product.x[5 * kColumns + 511] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = product.run(2, product.x);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(std::isfinite(y[i]), i / kRows != 3 && i / kRows != 5) << i;
  }
}

/// Every product by tiles and rows of x by the words or floats of the matrix: the bf16 of both
/// sides have 2^-9 of error each.
void expect_near(std::span<const float> found, std::span<const float> exact) {
  double largest = 0, worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(double(exact[i])));
    worst = std::max(worst, std::abs(double(found[i]) - exact[i]));
  }
  EXPECT_LE(worst, 0x1p-8 * largest);
  EXPECT_GT(worst, 0) << "these are not the products of tiles";
}

TEST(TileProducts, AreThoseOfWordsForEveryFormat) {
  if (tile_units().empty()) GTEST_SKIP() << "This processor has no units for tiles.";
  for (size_t i = 0; i < weight_formats().size(); ++i) {
    const DType dtype = packed_type(i);
    if (!multiplies_tiles(dtype)) continue;
    SCOPED_TRACE(dtype_name(dtype));
    const Product product(dtype, 37);
    const std::vector<float> exact = product.run(1, product.x);
    for (const TileUnit* unit : tile_units()) {
      SCOPED_TRACE(unit->name);
      const std::vector<float> found = product.run(3, product.x, unit);
      expect_near(found, exact);
      EXPECT_EQ(product.run(1, product.x, unit), found) << "by one thread";
    }
  }
}

TEST(TileProducts, OfWhatIsNoNumberAreNone) {
  for (const TileUnit* unit : tile_units()) {
    Product product(DType::kQ4_0, 16);
    product.x[3 * kColumns + 40] = std::numeric_limits<float>::infinity();
    product.x[5 * kColumns + 511] = std::bit_cast<float>(0x7fffffffu);
    const std::vector<float> y = product.run(2, product.x, unit);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(std::isfinite(y[i]), i / kRows != 3 && i / kRows != 5) << i;
    }
  }
}

TEST(TileProducts, OfRowsOfBf16TakePartsAndColumnsThatFillNoTile) {
  constexpr uint32_t kWide = 77, kHigh = 50;
  std::mt19937 random(3);
  std::vector<uint16_t> matrix(kWide * kHigh);
  for (uint16_t& value : matrix) {
    value = uint16_t(std::bit_cast<uint32_t>(std::normal_distribution<float>()(random)) >> 16);
  }
  std::vector<float> x(20 * kWide), bias(kHigh);
  for (float& value : x) value = std::normal_distribution<float>()(random);
  for (float& value : bias) value = std::normal_distribution<float>()(random);
  const CpuTensor w = {reinterpret_cast<std::byte*>(matrix.data()), DType::kBF16, {kHigh, kWide}};
  // Two parts whose rows share a panel, and rows of x in another order.
  std::vector<uint32_t> rows(40);
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i] = (7 * i + 3) % 20;
  for (const TileUnit* unit : tile_units()) {
    const auto products = [&](const TileUnit* own) {
      std::vector<float> y(20 * 23), z(rows.size() * (kHigh - 23));
      const PartProduct parts[] = {{.count = 23, .y = y.data(), .y_stride = 23},
                                   {.first = 23,
                                    .count = kHigh - 23,
                                    .x_rows = rows,
                                    .y = z.data(),
                                    .y_stride = kHigh - 23}};
      ThreadPool pool(3);
      multiply(pool, x, w, bias.data(), parts, own);
      y.insert(y.end(), z.begin(), z.end());
      return y;
    };
    expect_near(products(unit), products(nullptr));
  }
}

}  // namespace
}  // namespace tokamak
