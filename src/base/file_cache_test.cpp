#include "base/file_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

namespace tokamak {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

constexpr CacheKind kKind = {"things", "things", ".thing", "things", 1000, "TOKAMAK_TEST_LIMIT"};

class FileCacheTest : public testing::Test {
 protected:
  FileCacheTest()
      : folder_(testing::TempDir() + "tokamak_file_cache_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
  }
  ~FileCacheTest() override {
    unsetenv(kKind.variable);
    fs::remove_all(folder_);
  }

  static bool put(FileCache& cache, const std::string& name, size_t bytes) {
    const std::string text(bytes, 'x');
    return cache.write(name, {std::as_bytes(std::span(text))});
  }
  /// Makes the entry look as if it had been used last so long ago.
  void age(const std::string& name, hours ago) const {
    fs::last_write_time(folder_ + "/" + name, fs::file_time_type::clock::now() - ago);
  }
  void make_file(const std::string& name, size_t bytes) const {
    fs::create_directories(folder_);
    std::ofstream(folder_ + "/" + name) << std::string(bytes, 'x');
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  using Names = std::set<std::string>;

  const std::string folder_;
};

TEST_F(FileCacheTest, RemovesWhatWasOfNoUseForTheLongestTime) {
  FileCache cache(folder_, kKind);
  for (const char* name : {"a.thing", "b.thing", "c.thing"}) ASSERT_TRUE(put(cache, name, 300));
  age("a.thing", hours(30));
  age("b.thing", hours(50));
  age("c.thing", hours(40));
  FileCache::mark_used(folder_ + "/b.thing");
  ASSERT_TRUE(put(cache, "d.thing", 300));
  EXPECT_EQ(names(), (Names{"a.thing", "b.thing", "d.thing"}));
  EXPECT_EQ(cache.problem(), "");
}

TEST_F(FileCacheTest, CountsWhatOthersHaveWritten) {
  make_file("old.thing", 900);
  age("old.thing", hours(2));
  FileCache cache(folder_, kKind);
  ASSERT_TRUE(put(cache, "new.thing", 200));
  EXPECT_EQ(names(), Names{"new.thing"});
}

TEST_F(FileCacheTest, WritesNothingThatIsBeyondTheLimit) {
  FileCache cache(folder_, kKind);
  ASSERT_TRUE(put(cache, "a.thing", 600));
  EXPECT_FALSE(put(cache, "b.thing", 1001));
  EXPECT_EQ(names(), Names{"a.thing"}) << "nothing has to go for it";
  EXPECT_EQ(cache.problem(),
            "1001 B are more than the limit of 1000 B, which TOKAMAK_TEST_LIMIT sets");
  setenv(kKind.variable, "1K", 1);
  EXPECT_TRUE(FileCache(folder_, kKind).make_room(1001));
  setenv(kKind.variable, "0", 1);
  FileCache none(folder_, kKind);
  EXPECT_FALSE(put(none, "c.thing", 1)) << "keeps nothing";
  EXPECT_EQ(none.problem(), "") << "which is nobody's fault";
}

TEST_F(FileCacheTest, KeepsNothingWhereTheLimitIsNone) {
  setenv(kKind.variable, "much", 1);
  FileCache cache(folder_, kKind);
  EXPECT_FALSE(put(cache, "a.thing", 1));
  EXPECT_EQ(
      cache.problem(),
      "TOKAMAK_TEST_LIMIT is \"much\", expected a number of bytes, or one that ends in K, M, G or "
      "T");
}

TEST_F(FileCacheTest, FillsNoDisk) {
  CacheKind endless = kKind;
  endless.limit = UINT64_MAX;
  FileCache cache(folder_, endless);
  const uint64_t free = fs::space(testing::TempDir()).available;
  EXPECT_FALSE(cache.make_room(free));
  EXPECT_TRUE(cache.problem().starts_with("the disk of " + folder_ + " is full: "))
      << cache.problem();
  EXPECT_TRUE(put(cache, "a.thing", 10));
}

TEST_F(FileCacheTest, ReportsWhatKeepsItFromWriting) {
  std::ofstream(folder_) << "a file";
  FileCache cache(folder_ + "/things", kKind);
  EXPECT_FALSE(put(cache, "a.thing", 1));
  EXPECT_EQ(cache.problem(), folder_ + "/things cannot be made (Not a directory)");
  EXPECT_TRUE(cache.entries().empty());
  FileCache nowhere("", kKind);
  EXPECT_FALSE(put(nowhere, "a.thing", 1));
  EXPECT_TRUE(nowhere.entries().empty());
}

TEST_F(FileCacheTest, TouchesNothingElseInTheFolder) {
  for (const char* name : {"a.thing", "notes.txt", "a.thing.0badcafe-3.partial", "b.partial"}) {
    make_file(name, 100);
  }
  fs::create_directories(folder_ + "/folder.thing");
  fs::create_symlink(folder_ + "/notes.txt", folder_ + "/link.thing");
  FileCache cache(folder_, kKind);
  ASSERT_EQ(cache.entries().size(), 2u);
  const FileCache::Removed removed = cache.clear();
  EXPECT_EQ(removed.entries, 1u);
  EXPECT_EQ(removed.bytes, 200u);
  EXPECT_EQ(names(), (Names{"b.partial", "folder.thing", "link.thing", "notes.txt"}));
}

TEST_F(FileCacheTest, PruningRemovesWhatIsLeftOverUnusedAndTooMuch) {
  const std::string live = "b.thing.0badcafe-1.partial", dead = "a.thing.0badcafe-0.partial";
  for (const std::string& name : {live, dead}) make_file(name, 10);
  age(dead, hours(25));
  for (const char* name : {"a.thing", "b.thing", "c.thing", "d.thing"}) make_file(name, 400);
  age("a.thing", hours(100));
  age("b.thing", hours(3));
  age("c.thing", hours(2));
  FileCache cache(folder_, kKind);
  const auto removed = cache.prune(fs::file_time_type::clock::now() - hours(48));
  EXPECT_EQ(removed.entries, 2u);
  EXPECT_EQ(removed.bytes, 810u);
  EXPECT_EQ(names(), (Names{live, "c.thing", "d.thing"}));
}

TEST_F(FileCacheTest, ManyMayWriteAtOnce) {
  const auto write = [&](char letter) {
    FileCache own(folder_, kKind);
    for (int i = 0; i < 200; ++i) put(own, fmt::format("{}{}.thing", letter, i % 7), 90);
  };
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c'}) threads.emplace_back(write, letter);
  for (std::thread& thread : threads) thread.join();
  FileCache cache(folder_, kKind);
  cache.prune();
  uint64_t bytes = 0;
  for (const CacheEntry& entry : cache.entries()) {
    EXPECT_FALSE(entry.is_partial);
    EXPECT_EQ(entry.bytes, 90u);
    bytes += entry.bytes;
  }
  EXPECT_LE(bytes, kKind.limit);
  EXPECT_GT(bytes, 0u);
}

}  // namespace
}  // namespace tokamak
