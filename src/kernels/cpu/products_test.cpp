#include "kernels/cpu/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cpu/panels.h"
#include "kernels/quant/random_matrix.h"

namespace tokamak {
namespace {

constexpr uint32_t kRows = 333, kColumns = 512, kTokens = 11;

struct Product {
  explicit Product(DType dtype)
      : layout(dtype, kRows, kColumns), panels(size_t(layout.bytes())), x(kTokens * kColumns) {
    std::mt19937 random(3);
    const std::vector<std::byte> streams = random_matrix(dtype, kRows, kColumns, 1, random);
    pack_panels(layout, streams, 0, layout.panels(), panels.data());
    for (float& value : x) value = std::normal_distribution<float>()(random);
    w = {panels.data(), dtype, {kRows, kColumns}, &layout};
  }

  std::vector<float> run(uint32_t threads, std::span<const float> rows) const {
    ThreadPool pool(threads);
    std::vector<float> y(rows.size() / kColumns * kRows);
    const PartProduct all{.count = kRows, .y = y.data(), .y_stride = kRows};
    multiply(pool, product_input(pool, rows, w), w, nullptr, std::span(&all, 1));
    return y;
  }

  PanelLayout layout;
  std::vector<std::byte> panels;
  std::vector<float> x;
  CpuTensor w;
};

TEST(Products, AreTheSameBitsForAnyNumberOfThreadsAndRows) {
  for (const DType dtype : {DType::kQ8_0, DType::kQ4_0, DType::kQ4_K, DType::kQ6_K}) {
    SCOPED_TRACE(dtype_name(dtype));
    const Product product(dtype);
    const std::vector<float> all = product.run(1, product.x);
    EXPECT_EQ(product.run(7, product.x), all);
    for (const uint32_t t : {0u, 7u, 10u}) {
      const auto row = std::span(product.x).subspan(t * kColumns, kColumns);
      const std::vector<float> alone = product.run(1, row);
      EXPECT_TRUE(std::ranges::equal(alone, std::span(all).subspan(t * kRows, kRows))) << t;
    }
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

}  // namespace
}  // namespace tokamak
