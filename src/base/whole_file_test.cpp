#include "base/whole_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public testing::Test {
 protected:
  WholeFileTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~WholeFileTest() override { fs::remove_all(folder_); }

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "tokamak_whole_file";
  const fs::path place_ = folder_ / "notes";
};

TEST_F(WholeFileTest, IsThereAfterTheCommitAndNotBefore) {
  WholeFile file(place_.string());
  file.put(bytes("one "));
  file.put(bytes("two"));
  EXPECT_FALSE(fs::exists(place_));
  EXPECT_TRUE(file.commit());
  EXPECT_EQ(text_of(place_), "one two");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFileTest, LeavesNothingWithoutACommit) {
  {
    WholeFile(place_.string()).put(bytes("half"));
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(WholeFileTest, TheLastOfTwoWritersWins) {
  WholeFile one(place_.string()), other(place_.string());
  one.put(bytes("one"));
  other.put(bytes("other"));
  EXPECT_TRUE(other.commit());
  EXPECT_TRUE(one.commit());
  EXPECT_EQ(text_of(place_), "one");
}

TEST_F(WholeFileTest, ReportsWhenItsFolderIsMissing) {
  WholeFile file((folder_ / "missing" / "notes").string());
  file.put(bytes("x"));
  EXPECT_FALSE(file.good());
  EXPECT_FALSE(file.commit());
}

}  // namespace
}  // namespace tokamak
