#include "quantize/importance.h"

#include "quantize/made_gguf_test.h"

namespace tokamak {
namespace {

TensorInfo matrix(std::vector<uint64_t> shape) {
  TensorInfo out;
  out.name = "a.weight";
  out.shape = std::move(shape);
  return out;
}

MadeGguf sums(std::vector<uint64_t> shape, std::vector<float> values, std::vector<float> counts) {
  MadeGguf made;
  made.add("a.weight.in_sum2", std::move(shape), std::move(values));
  made.add("a.weight.counts", {counts.size(), 1}, counts);
  return made;
}

TEST(Importance, IsTheMeanOfEachExpertAndColumn) {
  const MadeGguf made = sums({2, 4}, {8, 4, 0, 2, 1, 1, 1, 1}, {2, 0});
  const auto found = importance_of(made.file(), matrix({2, 3, 4}));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 8u);
  EXPECT_EQ((*found)[0], 4.0f);
  EXPECT_EQ((*found)[1], 2.0f);
  EXPECT_GT((*found)[2], 0.0f);
  EXPECT_LT((*found)[2], 1e-5f);
  EXPECT_EQ((*found)[3], 1.0f);
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ((*found)[i], 1.0f);  // an expert that was not used
}

TEST(Importance, IsEmptyForOtherMatrices) {
  TensorInfo other = matrix({3, 4});
  other.name = "b.weight";
  const auto found = importance_of(sums({4}, {1, 2, 3, 4}, {1}).file(), other);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty());
}

TEST(Importance, NamesWhatDoesNotFit) {
  const auto message = [](const MadeGguf& made) {
    const auto found = importance_of(made.file(), matrix({3, 4}));
    return found ? "no error" : found.error().message;
  };
  EXPECT_EQ(
      message(sums({5}, {1}, {1})),
      "made: tensor \"a.weight.in_sum2\" is f32[5], expected 4 elements, as the model's matrix "
      "has columns.");
  EXPECT_EQ(message(sums({4}, {1, -1}, {1})),
            "made: tensor \"a.weight.in_sum2\" is f32[4], and has numbers that are no sums.");
}

}  // namespace
}  // namespace tokamak
