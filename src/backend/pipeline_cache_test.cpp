#include "backend/pipeline_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backend/webgpu/tiny_device.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

class PipelineCacheTest : public testing::Test {
 protected:
  PipelineCacheTest()
      : folder_(fs::path(testing::TempDir()) /
                (std::string("tokamak_cache_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~PipelineCacheTest() override { fs::remove_all(folder_); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  /// Loads as Dawn does: the size, then the bytes.
  Bytes load(const Bytes& key) const {
    const auto cache = open_pipeline_cache(folder_.string());
    Bytes value(cache->load(key, {}));
    if (!value.empty()) {
      EXPECT_EQ(cache->load(key, value), value.size());
    }
    return value;
  }
  void store(const Bytes& key, const Bytes& value) const {
    open_pipeline_cache(folder_.string())->store(key, value);
  }

  static Bytes read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write_file(const fs::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }

  fs::path folder_;
  const Bytes key_ = {1, 2, 3, 4, 5}, value_ = {10, 20, 30, 40, 50, 60, 70};
};

TEST_F(PipelineCacheTest, KeepsEntriesBetweenRuns) {
  EXPECT_TRUE(load(key_).empty());
  store(key_, value_);
  store({9}, {8});
  EXPECT_EQ(load(key_), value_);
  EXPECT_EQ(load({9}), Bytes{8});
  store(key_, {1});
  EXPECT_EQ(load(key_), Bytes{1});
  EXPECT_EQ(files().size(), 2u) << "no partial file stays";
}

TEST_F(PipelineCacheTest, TreatsDamageAsAbsence) {
  store(key_, value_);
  const fs::path path = files().at(0);
  const Bytes whole = read_file(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    Bytes damaged = whole;
    damaged[i] ^= 0x40;
    write_file(path, damaged);
    EXPECT_TRUE(load(key_).empty()) << "byte " << i;
    write_file(path, Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(i)));
    EXPECT_TRUE(load(key_).empty()) << "length " << i;
  }
  store(key_, value_);
  EXPECT_EQ(load(key_), value_) << "and heals it";
}

TEST_F(PipelineCacheTest, AnswersTheSecondQuestionFromTheFirstReading) {
  store(key_, value_);
  const auto cache = open_pipeline_cache(folder_.string());
  Bytes value(cache->load(key_, {}));
  fs::remove_all(folder_);
  EXPECT_EQ(cache->load(key_, value), value_.size());
  EXPECT_EQ(value, value_);
}

TEST_F(PipelineCacheTest, DoesWithoutAFolderItCannotMake) {
  write_file(folder_, {1});
  const std::string inside = (folder_ / "cache").string();
  const auto cache = open_pipeline_cache(inside);
  EXPECT_EQ(cache->problem(), "");
  cache->store(key_, value_);
  EXPECT_EQ(cache->load(key_, {}), 0u);
  EXPECT_EQ(cache->problem(), inside + " cannot be made (Not a directory)");
  EXPECT_NE(tiny_device({.cache_dir = inside}), nullptr);
}

TEST_F(PipelineCacheTest, KeepsOnlySoMuchAndWhatWasUsedLast) {
  const Bytes large(100'000);
  setenv("TOKAMAK_PIPELINES_LIMIT", "1M", 1);
  const auto limited = open_pipeline_cache(folder_.string());
  unsetenv("TOKAMAK_PIPELINES_LIMIT");
  for (uint8_t key = 0; key < 30; ++key) limited->store(Bytes{key}, large);
  EXPECT_LE(files().size(), 10u);
  EXPECT_GE(files().size(), 8u);
  EXPECT_EQ(load({29}), large);
  EXPECT_TRUE(load({0}).empty());
  EXPECT_EQ(limited->problem(), "");
}

struct RunWithCache {
  std::vector<float> y;
  CompileReport report;
};

/// One token on a fresh device with this cache.
RunWithCache run_with_cache(const std::string& folder) {
  std::vector<float> y;
  auto backend = open_webgpu_backend({.cache_dir = folder});
  EXPECT_TRUE(backend);
  auto program = (*backend)->compile(tiny_plan((*backend)->device()), tiny_reader());
  EXPECT_TRUE(program);
  const uint32_t token = 3;
  EXPECT_TRUE((*program)->submit(
      tiny_step(token, [&](auto result) { y.assign(result->begin(), result->end()); })));
  EXPECT_TRUE((*program)->wait());
  return {y, (*program)->report()};
}

TEST_F(PipelineCacheTest, IsUsedByTheDeviceAndSurvivesDamageThere) {
  EXPECT_EQ(run_with_cache(folder_.string()).y, tiny_result(3));
  ASSERT_FALSE(files().empty());
  std::map<fs::path, Bytes> first;
  for (const fs::path& path : files()) first[path] = read_file(path);
  EXPECT_EQ(run_with_cache(folder_.string()).y, tiny_result(3));
  EXPECT_EQ(files().size(), first.size()) << "the second run finds everything";
  for (const fs::path& path : files()) {
    Bytes bytes = first[path];
    bytes[bytes.size() / 2] ^= 1;
    write_file(path, bytes);
  }
  EXPECT_EQ(run_with_cache(folder_.string()).y, tiny_result(3));
}

TEST_F(PipelineCacheTest, LeavesNothingToCompileAtTheSecondStart) {
  const CompileReport first = run_with_cache(folder_.string()).report;
  EXPECT_GT(first.pipelines, 0u);
  EXPECT_EQ(first.cached, 0u);
  const CompileReport second = run_with_cache(folder_.string()).report;
  EXPECT_EQ(second.pipelines, first.pipelines);
  EXPECT_EQ(second.cached, second.pipelines);
  for (const fs::path& path : files()) write_file(path, {1, 2, 3});
  EXPECT_LT(run_with_cache(folder_.string()).report.cached, first.pipelines);
  EXPECT_EQ(run_with_cache("").report.cached, 0u) << "without a cache";
}

}  // namespace
}  // namespace tokamak
