#include "report/bench/perplexity.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "report/bench/comparison.h"
#include "report/bench/each_row.h"

namespace tokamak {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kExact = 1e-12;

/// Logits of these probabilities, or of these multiplied by anything.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double one : probabilities) logits.push_back(float(std::log(one)));
  return logits;
}

RowDifference difference(const std::vector<float>& a, const std::vector<float>& b, uint32_t id) {
  const auto found = row_difference(a, b, id);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(RowDifference());
}

TEST(Perplexity, OfWhatIsEquallyProbableIsTheNumberOfTokens) {
  const std::vector<float> row(8, 3.5f);
  const double loss = *token_loss(row, 5);
  EXPECT_NEAR(loss, 3 * std::numbers::ln2, kExact);
  const std::vector<double> losses(20, loss);
  const Perplexity found = {estimate_of(losses)};
  EXPECT_NEAR(found.value(), 8, 1e-11);
  EXPECT_NEAR(found.error(), 0, 1e-11);
}

TEST(Perplexity, HasTheErrorOfAMean) {
  // Their variance as of a sample is 5/3, of which the mean of four has a quarter.
  const Estimate found = estimate_of(std::vector<double>{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(found.mean, 2.5);
  EXPECT_DOUBLE_EQ(found.error, std::sqrt(5.0 / 12));
  const Perplexity perplexity = {found};
  EXPECT_DOUBLE_EQ(perplexity.value(), std::exp(2.5));
  EXPECT_DOUBLE_EQ(perplexity.error(), std::exp(2.5) * std::sqrt(5.0 / 12));
  EXPECT_EQ(estimate_of(std::vector<double>{7}).error, 0);
}

TEST(Perplexity, CountsLogitsThatAreFarFromZero) {
  // In floats exp() of either would be infinite or 0.
  EXPECT_NEAR(*token_loss(std::vector<float>{1000, 998}, 1), 2 + std::log1p(std::exp(-2)), kExact);
  EXPECT_NEAR(*token_loss(std::vector<float>{-1000, -998}, 0), 2 + std::log1p(std::exp(-2)),
              kExact);
  EXPECT_NEAR(*token_loss(std::vector<float>{0, -kInfinity}, 0), 0, kExact);
  EXPECT_EQ(*token_loss(std::vector<float>{0, -kInfinity}, 1), double(kInfinity));
  EXPECT_FALSE(token_loss(std::vector<float>(4, std::nanf("")), 1));
}

TEST(Perplexity, CutsATextIntoWindows) {
  TextWindows text = {
      .ids = {1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, .begin = {}, .size = 5};
  EXPECT_EQ(text.count(), 2u);
  EXPECT_EQ(text.window(1), (std::vector<uint32_t>{14, 15, 16, 17, 18}));
  text.begin = 1;
  EXPECT_EQ(text.window(0), (std::vector<uint32_t>{1, 10, 11, 12, 13}));
  EXPECT_EQ(text.window(1), (std::vector<uint32_t>{1, 15, 16, 17, 18}));
  EXPECT_EQ(text.uncounted(), 2u);
  EXPECT_EQ(text.predicted(), 2u);  // by the third and the fourth
  text.size = 512;
  EXPECT_EQ(text.predicted(), 255u);
  text.size = 2;
  PerplexityOptions options;
  EXPECT_EQ(options.count_of(text), 6u);
  options.windows = 3;
  EXPECT_EQ(options.count_of(text), 3u);
  options.windows = 9;
  EXPECT_EQ(options.count_of(text), 6u);
}

TEST(Comparison, OfOnePositionIsThatOfTheDefinition) {
  const auto a = logits_of({0.5, 0.25, 0.25}), b = logits_of({2, 4, 2});  // 1/4, 1/2, 1/4
  const RowDifference found = difference(a, b, 0);
  EXPECT_NEAR(found.a_loss, std::numbers::ln2, 1e-7);
  EXPECT_NEAR(found.b_loss, 2 * std::numbers::ln2, 1e-7);
  EXPECT_NEAR(found.divergence, 0.25 * std::numbers::ln2, 1e-7);
  EXPECT_FALSE(found.has_same_top);
  // It is not the same the other way.
  const auto c = logits_of({0.75, 0.125, 0.125});
  EXPECT_NEAR(difference(a, c, 0).divergence, 0.5 * std::log(2.0 / 3) + 0.5 * std::numbers::ln2,
              1e-7);
  EXPECT_NEAR(difference(c, a, 0).divergence, 0.75 * std::log(1.5) - 0.25 * std::numbers::ln2,
              1e-7);
  EXPECT_TRUE(difference(a, c, 0).has_same_top);
}

TEST(Comparison, OfEqualRowsIsNothing) {
  const std::vector<float> a = {0.1f, -3.25f, 7.5f, 100, 99.5f};
  std::vector<float> b = a;
  for (float& one : b) one += 8;  // the same probabilities
  EXPECT_EQ(difference(a, a, 2).divergence, 0);
  EXPECT_NEAR(difference(a, b, 2).divergence, 0, 1e-5);
  EXPECT_GE(difference(a, b, 2).divergence, 0);
  EXPECT_TRUE(difference(a, b, 2).has_same_top);
}

TEST(Comparison, RecognizesTokensThatAModelNeverGives) {
  EXPECT_NEAR(difference({0, -kInfinity, 0}, {0, 0, 0}, 0).divergence, std::log(1.5), kExact);
  EXPECT_EQ(difference({0, 0, 0}, {0, -kInfinity, 0}, 0).divergence, double(kInfinity));
  EXPECT_EQ(difference({0, -kInfinity}, {0, -kInfinity}, 0).divergence, 0);
}

TEST(Comparison, SumsUpPositions) {
  std::vector<RowDifference> rows;
  for (int i = 0; i < 101; ++i) {
    rows.push_back({.a_loss = double(i),
                    .b_loss = i + 0.5,
                    .divergence = i / 100.0,
                    .has_same_top = i % 4 != 0});
  }
  const Comparison found = comparison_of(rows);
  EXPECT_EQ(found.tokens, 101u);
  EXPECT_NEAR(found.a.loss.mean, 50, kExact);
  EXPECT_NEAR(found.b.loss.mean, 50.5, kExact);
  // Every token is 0.5 harder, whatever it is: the ratio is certain where the perplexities are not.
  EXPECT_NEAR(found.ratio(), std::exp(0.5), kExact);
  EXPECT_NEAR(found.ratio_error(), 0, kExact);
  EXPECT_GT(found.a.loss.error, 2);
  EXPECT_NEAR(found.divergence.mean, 0.5, kExact);
  EXPECT_NEAR(found.divergence_99, 0.99, kExact);
  EXPECT_EQ(found.largest_divergence, 1);
  const double share = 75 / 101.0;
  EXPECT_NEAR(found.same_top.mean, share, kExact);
  EXPECT_NEAR(found.same_top.error, std::sqrt(share * (1 - share) / 100), kExact);
}

TEST(Comparison, TakesQuantilesBetweenTwoValues) {
  EXPECT_DOUBLE_EQ(quantile_of(std::vector<double>{1, 2, 4}, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile_of(std::vector<double>{1, 2, 4}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile_of(std::vector<double>{5}, 0.99), 5);
}

TEST(EachRow, DoesEveryRowOnceAndGivesTheFirstError) {
  for (const size_t rows : {0u, 1u, 7u, 8u, 100u}) {
    std::vector<int> calls(rows);
    EXPECT_TRUE(for_each_row(rows, [&](size_t row) -> Result<void> {
      ++calls[row];
      return {};
    }));
    EXPECT_EQ(calls, std::vector<int>(rows, 1));
  }
  const auto status = for_each_row(100, [](size_t row) -> Result<void> {
    if (row >= 40) return invalid_input("row {}", row);
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "row 40");
}

}  // namespace
}  // namespace tokamak
