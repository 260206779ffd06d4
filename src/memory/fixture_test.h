// A store in a folder of its own, and an embedder whose vectors a test can foresee: each word it
// knows, or a synonym of it, is a direction; words that it does not know are nothing to it.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/hash.h"
#include "memory/embedder.h"
#include "memory/redact.h"
#include "memory/store.h"
#include "memory/words.h"
#include "memory/writer.h"

namespace tokamak::memory {

/// The value, or a failed test.
template <typename T>
T value(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  if (!result) std::abort();
  return *std::move(result);
}

inline void expect_ok(const Result<void>& result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
}

/// That it failed, and that the message has all of these parts.
template <typename T>
void expect_error(const Result<T>& result, std::initializer_list<std::string_view> parts) {
  ASSERT_FALSE(result);
  for (const std::string_view part : parts) {
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }
}

inline Result<size_t> count_words(std::string_view text) {
  std::istringstream words{std::string(text)};
  size_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

class FakeModel {
 public:
  explicit FakeModel(std::string name = "fake", uint64_t seed = 1, uint32_t dimension = 64)
      : name_(std::move(name)), seed_(seed), dimension_(dimension) {}

  void add_synonyms(const std::vector<std::string>& words) {
    for (const std::string& word : words) concepts_[word] = words.front();
  }

  Embedder embedder() {
    return {.name = name_,
            .pooling = "mean",
            .max_tokens = 1000,
            .count = count_words,
            .embed = [this](std::span<const std::string> texts, Side) {
              Result<std::vector<std::vector<float>>> rows;
              rows.emplace();
              for (const std::string& text : texts) {
                seen.push_back(text);
                rows->push_back(vector(text));
              }
              return rows;
            }};
  }

  std::vector<std::string> seen;  // what it was asked to embed

 private:
  std::vector<float> vector(const std::string& text) const {
    std::vector<float> sum(dimension_);
    sum[0] = 0.01F;  // no text is nothing
    for (const std::string& word : distinct_words(text)) {
      const auto found = concepts_.find(word);
      if (!concepts_.empty() && found == concepts_.end()) continue;
      const std::string& known = found == concepts_.end() ? word : found->second;
      uint64_t state = hash_bytes(std::span<const char>(known), kHashStart + seed_);
      for (float& number : sum) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        number += float(int64_t(state >> 40)) / float(1 << 23) - 1;
      }
    }
    double squares = 0;
    for (const float number : sum) squares += double(number) * number;
    for (float& number : sum) number = float(number / std::sqrt(squares));
    return sum;
  }

  std::string name_;
  uint64_t seed_;
  uint32_t dimension_;
  std::map<std::string, std::string> concepts_;
};

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "tokamak-memory-" + test->test_suite_name() + "." + test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "store.db") const { return folder_ + "/" + name; }
  Store store(const std::string& name = "store.db") const {
    return value(Store::open_or_create(path(name), std::chrono::milliseconds(300)));
  }
  Added add(const Store& store, const std::string& text, const std::string& source = "",
            int64_t added = 1000) {
    Writer writer(store, embedder_, redactor_, sizes_);
    EXPECT_TRUE(writer.begin());
    return value(writer.add({.source = source, .text = text, .added = added}, nullptr));
  }

  std::string bytes_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// All files of the folder, one after the other.
  std::string all_bytes() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      all += bytes_of(entry.path().filename());
    }
    return all;
  }

  FakeModel model_;
  Embedder embedder_ = model_.embedder();
  Redactor redactor_ = value(Redactor::make({}));
  ChunkSizes sizes_;
  std::string folder_;
};

}  // namespace tokamak::memory
