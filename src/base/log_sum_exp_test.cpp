#include "base/log_sum_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tokamak {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double by_definition(const std::vector<float>& x) {
  double sum = 0, largest = -1e300;
  for (const float one : x) largest = std::max(largest, double(one));
  for (const float one : x) sum += std::exp(double(one) - largest);
  return largest + std::log(sum);
}

TEST(LogSumExp, IsThatOfTheDefinition) {
  std::mt19937 random(7);
  for (const float width : {0.01f, 1.0f, 8.0f, 300.0f}) {
    for (const size_t count : {1u, 7u, 8u, 100u, 51865u}) {
      std::normal_distribution<float> normal(-3, width);
      std::vector<float> x(count);
      for (float& one : x) one = normal(random);
      EXPECT_NEAR(log_sum_exp(x), by_definition(x), 1e-12 * std::max(1.0f, width))
          << count << " of " << width;
    }
  }
}

TEST(LogSumExp, LeavesOutWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NEAR(log_sum_exp(std::vector<float>{1, -kInfinity, nan, 2, -kInfinity, 0, 3, nan, 1}),
              by_definition({1, 2, 0, 3, 1}), 1e-12);
  EXPECT_EQ(log_sum_exp(std::vector<float>{-kInfinity, nan}), -double(kInfinity));
  EXPECT_EQ(log_sum_exp({}), -double(kInfinity));
}

}  // namespace
}  // namespace tokamak
