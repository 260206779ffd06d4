#include "engine/lexical_head.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/files/encoder_weights.h"
#include "formats/native_files.h"

namespace tokamak {
namespace {

constexpr const char* kFolder = TOKAMAK_TEST_DATA "/embeddings/bge_m3";

bool is_word(uint32_t id) {
  return id > 3;
}

TEST(LexicalHead, GivesEachIdItsLargestWeightAndNoneToTheIdsAroundTexts) {
  const LexicalHead head = {.weight = {1, 2}, .bias = -1};
  const std::vector<float> rows = {1, 1, 0, 0.25f, 3, 0, 1, 0.5f, 0, 1};
  const std::vector<float> weights = lexical_weights(head, rows);
  EXPECT_EQ(weights, (std::vector<float>{2, -0.5f, 2, 1, 1}));
  const uint32_t ids[] = {0, 7, 9, 9, 5};
  const SparseVector vector = sparse_vector(ids, weights, is_word);
  ASSERT_EQ(vector.size(), 2u);
  EXPECT_EQ(vector[0].id, 5u);
  EXPECT_EQ(vector[0].weight, 1);
  EXPECT_EQ(vector[1].id, 9u);
  EXPECT_EQ(vector[1].weight, 2);
}

TEST(LexicalHead, IsReadFromTheFileBesideTheWeights) {
  auto tensors = open_safetensors_file(fmt::format("{}/model.safetensors", kFolder));
  ASSERT_TRUE(tensors);
  const auto none = read_lexical_head(*tensors, 48);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(add_sparse_linear(kFolder, *tensors));
  const auto head = read_lexical_head(*tensors, 48);
  ASSERT_TRUE(head) << head.error().message;
  ASSERT_TRUE(*head);
  EXPECT_EQ((*head)->weight.size(), 48u);
  EXPECT_NEAR((*head)->bias, 0.05f, 1e-4);
  // There is one already.
  const size_t count = tensors->tensors().size();
  ASSERT_TRUE(add_sparse_linear(kFolder, *tensors));
  EXPECT_EQ(tensors->tensors().size(), count);
  const auto other = read_lexical_head(*tensors, 64);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "The tensor \"sparse_linear.weight\" is f16[1, 48], expected [1, 64] of f32, f16 or "
            "bf16.");
}

}  // namespace
}  // namespace tokamak
