#include "download/blob_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

namespace tokamak::download {
namespace {

namespace fs = std::filesystem;

class BlobFileTest : public testing::Test {
 protected:
  BlobFileTest()
      : folder_(testing::TempDir() + "tokamak_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~BlobFileTest() override { fs::remove_all(folder_); }

  static hub::RepoFile file(std::string hash, uint64_t size) {
    hub::RepoFile file;
    file.path = "model.safetensors";
    file.hash = std::move(hash);
    file.size = size;
    return file;
  }
  static size_t open_files() {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      count += entry.path().empty() ? 0 : 1;
    }
    return count;
  }

  std::string folder_;
  static constexpr std::byte kBytes[] = {std::byte{'a'}, std::byte{'b'}, std::byte{'\n'}};
  // git hash-object of "ab\n"
  const hub::RepoFile file_ = file("81bf396956110ad81c14860af1bbcc9dfbe4df20", sizeof kBytes);
};

TEST_F(BlobFileTest, KeepsNoFileOpenBeforeSomethingArrives) {
  const size_t before = open_files();
  std::vector<BlobFile> blobs;
  for (int i = 0; i < 50; ++i) {
    auto blob = BlobFile::open(folder_, file(fmt::format("{:040x}", i), 3));
    ASSERT_TRUE(blob) << blob.error().message;
    blobs.push_back(*std::move(blob));
  }
  EXPECT_EQ(open_files(), before);
  ASSERT_TRUE(blobs[7].write(0, kBytes));
  EXPECT_EQ(open_files(), before + 2) << "the contents and the counts of one";
}

TEST_F(BlobFileTest, ContinuesWithWhatAnEarlierPullHasLeftAndGivesItItsName) {
  {
    auto first = BlobFile::open(folder_, file_);
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(first->write(0, std::span(kBytes).first(2)));
  }
  EXPECT_EQ(BlobFile::left_before(folder_, file_), 2u);
  auto blob = BlobFile::open(folder_, file_);
  ASSERT_TRUE(blob) << blob.error().message;
  EXPECT_EQ(blob->parts().total_done(), 2u);
  ASSERT_TRUE(blob->write(0, std::span(kBytes).subspan(2)));
  const size_t open = open_files();
  const auto finished = blob->finish([](uint64_t) {});
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(open_files(), open - 2);
  EXPECT_EQ(fs::file_size(folder_ + "/" + file_.hash), 3u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(BlobFileTest, ReportsThatTheFileWasCutMeanwhileAndNotWhatFailedLast) {
  auto blob = BlobFile::open(folder_, file_);
  ASSERT_TRUE(blob && blob->write(0, kBytes));
  const std::string partial = fs::directory_iterator(folder_)->path().string();
  const std::string contents =
      partial.ends_with(".parts") ? partial.substr(0, partial.size() - 6) : partial;
  fs::resize_file(contents, 1);
  errno = EACCES;
  const auto finished = blob->finish([](uint64_t) {});
  ASSERT_FALSE(finished);
  EXPECT_EQ(
      finished.error().message,
      contents + ": The file ends after 1 of 3 bytes: something else has changed it. Pull again.");
}

}  // namespace
}  // namespace tokamak::download
