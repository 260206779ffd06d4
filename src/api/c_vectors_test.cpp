#include "tokamak/c_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

constexpr size_t kVocabulary = 512;  // of qwen3_qknorm

/// Frees the error and gives what it says.
std::string said(tokamak_error* error) {
  const std::string message = error == nullptr ? "" : tokamak_error_message(error);
  tokamak_error_free(error);
  return message;
}

struct CVectors : testing::Test {
  void open(const char* folder, const char* pooling = nullptr) {
    tokamak_options* options = tokamak_options_new();
    tokamak_error* error = nullptr;
    EXPECT_TRUE(tokamak_options_set(options, "model", folder, &error)) << said(error);
    EXPECT_TRUE(tokamak_options_set(options, "backend", "cpu-reference", nullptr));
    EXPECT_TRUE(tokamak_options_set(options, "context", "64", nullptr));
    if (pooling != nullptr) {
      EXPECT_TRUE(tokamak_options_set(options, "pooling", pooling, nullptr));
    }
    model = tokamak_model_open(options, &error);
    tokamak_options_free(options);
    ASSERT_NE(model, nullptr) << said(error);
  }
  ~CVectors() override { tokamak_model_free(model); }

  tokamak_model* model = nullptr;
};

TEST_F(CVectors, AreSparseWhereTheModelHasALayerForThat) {
  open(TOKAMAK_SOURCE_DIR "/tests/data/embeddings/bge_m3");
  const char* texts[] = {"the old owl hunts at night", "a red fox sees the sea the fox"};
  tokamak_error* error = nullptr;
  tokamak_sparse_vectors* vectors = tokamak_model_embed_sparse(model, texts, 2, nullptr, &error);
  ASSERT_NE(vectors, nullptr) << said(error);
  size_t all = 0, count = 0;
  for (size_t i = 0; i < 2; ++i) {
    const tokamak_token_weight* tokens = tokamak_sparse_vectors_at(vectors, i, &count);
    all += count;
    for (size_t k = 0; k < count; ++k) {
      EXPECT_GT(tokens[k].weight, 0);
      EXPECT_GT(tokens[k].id, 3u);  // nothing of what stands around every text
      EXPECT_TRUE(k == 0 || tokens[k].id > tokens[k - 1].id);
    }
  }
  EXPECT_GT(all, 0u);
  EXPECT_EQ(tokamak_sparse_vectors_at(vectors, 2, &count), nullptr);
  EXPECT_EQ(count, 0u);
  tokamak_sparse_vectors_free(vectors);
}

TEST_F(CVectors, AreRefusedWhereTheModelHasNoLayerForSparseOnes) {
  open(TOKAMAK_SOURCE_DIR "/models/storyteller", "mean");
  const char* text = "A fox";
  tokamak_error* error = nullptr;
  EXPECT_EQ(tokamak_model_embed_sparse(model, &text, 1, nullptr, &error), nullptr);
  EXPECT_EQ(said(error),
            "The model makes no sparse vectors: it has no tensor \"sparse_linear.weight\", in its "
            "weights or in sparse_linear.safetensors or sparse_linear.pt beside them, as BGE-M3 "
            "does.");
}

TEST_F(CVectors, AreOneBlock) {
  open(TOKAMAK_SOURCE_DIR "/models/storyteller", "mean");
  const char* texts[] = {"A fox", "The sea", "An owl"};
  tokamak_vectors* vectors = tokamak_model_embed(model, texts, 3, nullptr, nullptr);
  ASSERT_NE(vectors, nullptr);
  size_t rows = 0, dimensions = 0, each = 0;
  const float* data = tokamak_vectors_data(vectors, &rows, &dimensions);
  EXPECT_EQ(rows, 3u);
  for (size_t row = 0; row < rows; ++row) {
    EXPECT_EQ(tokamak_vectors_at(vectors, row, &each), data + row * dimensions);
    EXPECT_EQ(each, dimensions);
  }
  EXPECT_EQ(tokamak_vectors_at(vectors, 3, &each), nullptr);
  EXPECT_EQ(each, 0u);
  tokamak_vectors_free(vectors);
  vectors = tokamak_model_embed(model, texts, 0, nullptr, nullptr);
  tokamak_vectors_data(vectors, &rows, &dimensions);
  EXPECT_EQ(rows, 0u);
  tokamak_vectors_free(vectors);
}

TEST_F(CVectors, GiveLogitsAfterTheLastTokenOrAll) {
  open(TOKAMAK_TEST_DATA "/models/qwen3_qknorm");
  const std::vector<uint32_t> ids = {3, 9, 27, 11, 5, 8, 2, 60, 31, 14, 7};
  tokamak_logits_options* every = tokamak_logits_options_new();
  EXPECT_TRUE(tokamak_logits_options_set(every, "all", "true", nullptr));
  std::vector<float> all(ids.size() * kVocabulary);
  tokamak_error* error = nullptr;
  ASSERT_TRUE(
      tokamak_model_logits(model, ids.data(), ids.size(), every, all.data(), all.size(), &error))
      << said(error);
  for (size_t count = 1; count <= ids.size(); ++count) {
    std::vector<float> last(kVocabulary);
    ASSERT_TRUE(
        tokamak_model_logits(model, ids.data(), count, nullptr, last.data(), last.size(), nullptr));
    for (size_t i = 0; i < kVocabulary; ++i) {
      ASSERT_NEAR(last[i], all[(count - 1) * kVocabulary + i], 1e-4) << count << " tokens, " << i;
    }
  }
  EXPECT_NE(all[0], all[kVocabulary]);
  tokamak_logits_options_free(every);
}

TEST_F(CVectors, RefuseLogitsThatCannotBe) {
  open(TOKAMAK_TEST_DATA "/models/qwen3_qknorm");
  const std::vector<uint32_t> ids = {3, 9, 999};
  std::vector<float> row(kVocabulary);
  const auto refused = [&](size_t count, const tokamak_logits_options* options, size_t numbers) {
    tokamak_error* error = nullptr;
    EXPECT_FALSE(
        tokamak_model_logits(model, ids.data(), count, options, row.data(), numbers, &error));
    return said(error);
  };
  EXPECT_EQ(refused(2, nullptr, 511), "There is room for 511 logits, expected 512: 1 rows of 512.");
  EXPECT_EQ(refused(0, nullptr, 512), "There are no tokens to give logits after.");
  EXPECT_NE(refused(3, nullptr, 512).find("999"), std::string::npos);
  tokamak_logits_options* options = tokamak_logits_options_new();
  tokamak_error* error = nullptr;
  EXPECT_FALSE(tokamak_logits_options_set(options, "colour", "red", &error));
  EXPECT_EQ(said(error), "There is no option \"colour\", but all, adapter.");
  tokamak_logits_options_on_step(options, [](void*) { return true; }, nullptr);
  error = nullptr;
  EXPECT_FALSE(tokamak_model_logits(model, ids.data(), 2, options, row.data(), 512, &error));
  EXPECT_EQ(tokamak_error_get_code(error), TOKAMAK_CANCELLED);
  tokamak_error_free(error);
  tokamak_logits_options_on_step(options, nullptr, nullptr);
  EXPECT_TRUE(tokamak_logits_options_set(options, "adapter", "pirate", nullptr));
  EXPECT_NE(refused(2, options, 512).find("pirate"), std::string::npos);
  tokamak_logits_options_free(options);
  tokamak_model_close(model);
  EXPECT_EQ(refused(2, nullptr, 512), "The model is closed.");
}

}  // namespace
