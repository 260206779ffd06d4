#include "base/system/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/system/mapped_file.h"
#include "base/system/path_text.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_from(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class FileTest : public testing::Test {
 protected:
  FileTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return text_of(folder_ / path_of(name)); }
  std::string written(std::string_view name, std::string_view text) const {
    std::ofstream(path_of(path(name)), std::ios::binary) << text;
    return path(name);
  }
  static std::string text_in(const std::string& path) {
    std::ifstream file(path_of(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "tokamak_system_file";
};

TEST_F(FileTest, ReadsFromAPlaceUpToTheEnd) {
  const auto file = File::open(written("a", "abcde"), FileMode::kRead);
  ASSERT_TRUE(file) << file.error().message;
  std::array<std::byte, 3> out{};
  EXPECT_EQ(file->read_at(1, out).value(), 3u);
  EXPECT_EQ(text_from(out), "bcd");
  EXPECT_EQ(file->read_at(4, out).value(), 1u);
  EXPECT_EQ(file->read_at(9, out).value(), 0u);
}

TEST_F(FileTest, ReadsOnUntilTheEnd) {
  auto file = File::open(written("a", "abcde"), FileMode::kStream);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->has_input(false));
  std::array<std::byte, 4> out{};
  EXPECT_EQ(file->read(out).value(), 4u);
  EXPECT_EQ(file->read(out).value(), 1u);
  EXPECT_EQ(file->read(out).value(), 0u);
}

TEST_F(FileTest, WritesAtAPlaceAndChangesTheSize) {
  const std::string place = path("a");
  EXPECT_FALSE(File::open(place, FileMode::kChange));
  auto file = File::open(place, FileMode::kCreate);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->resize(4));
  EXPECT_TRUE(file->write_at(2, bytes_of("xyz")));
  EXPECT_TRUE(file->flush());
  EXPECT_EQ(file->state()->bytes, 5u);
  EXPECT_EQ(text_in(place), std::string("\0\0xyz", 5));
}

TEST_F(FileTest, ReplacesOrAppends) {
  const std::string place = written("a", "before");
  EXPECT_TRUE(File::open(place, FileMode::kReplace)->write("one"));
  EXPECT_TRUE(File::open(place, FileMode::kAppend)->write(" two"));
  EXPECT_EQ(text_in(place), "one two");
}

TEST_F(FileTest, IsPrivateWhereThatIsAsked) {
  constexpr auto kOthers = fs::perms::group_all | fs::perms::others_all;
  ASSERT_TRUE(File::open(path("new"), FileMode::kCreate, {.is_private = true}));
  EXPECT_EQ(fs::status(path_of(path("new"))).permissions() & kOthers, fs::perms::none);
  auto old = File::open(written("old", ""), FileMode::kAppend);
  EXPECT_TRUE(old->make_private());
  EXPECT_EQ(fs::status(path_of(path("old"))).permissions() & kOthers, fs::perms::none);
}

TEST_F(FileTest, GivesTheReasonAlone) {
  const auto missing = File::open(path("none"), FileMode::kRead);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUsage);
  EXPECT_EQ(missing.error().message, "No such file or directory");
  EXPECT_EQ(file_state(path("none")).error().message, "No such file or directory");
  EXPECT_EQ(check_writable(path("none")).error().message, "No such file or directory");
  EXPECT_FALSE(is_readable(path("none")));
}

TEST_F(FileTest, RecognizesAFullDisk) {
  auto full = File::open("/dev/full", FileMode::kAppend);
  if (!full) GTEST_SKIP() << "this system has none that is always full";
  EXPECT_EQ(full->write("x").error().code, ErrorCode::kOutOfMemory);
}

TEST_F(FileTest, DistinguishesKindsAndIdentities) {
  const std::string one = written("one", "1"), two = written("two", "2");
  EXPECT_EQ(file_state(one)->kind, FileKind::kFile);
  EXPECT_EQ(file_state(text_of(folder_))->kind, FileKind::kFolder);
  EXPECT_EQ(file_state(one)->identity, File::open(one, FileMode::kRead)->state()->identity);
  EXPECT_NE(file_state(one)->identity, file_state(two)->identity);
}

TEST_F(FileTest, FollowsNoLinkWhereThatIsForbidden) {
  const std::string target = written("target", "12345");
  fs::create_symlink(path_of(target), path_of(path("link")));
  EXPECT_TRUE(File::open(path("link"), FileMode::kRead));
  EXPECT_FALSE(File::open(path("link"), FileMode::kRead, {.follows_links = false}));
  EXPECT_EQ(file_state(path("link"))->kind, FileKind::kFile);
  EXPECT_EQ(link_state(path("link"))->kind, FileKind::kOther);
}

TEST_F(FileTest, HasNamesInAnyLanguage) {
  const std::string name = "größe 漢字 🙂";
  const std::string place = written(name, "x");
  EXPECT_TRUE(File::open(place, FileMode::kRead)) << place;
  EXPECT_EQ(text_of(path_of(place)), place);
  EXPECT_EQ(text_of(fs::directory_iterator(folder_)->path().filename()), name);
}

TEST_F(FileTest, APathIsAbsoluteFromTheWorkingDirectory) {
  EXPECT_EQ(absolute_path(path("a")), path("a"));
  EXPECT_EQ(absolute_path("a"), text_of(fs::current_path() / "a"));
}

TEST_F(FileTest, IsClosedByWhoOpenedIt) {
  auto file = File::open(written("a", "abcde"), FileMode::kRead);
  std::array<std::byte, 5> out{};
  {
    const File borrowed = File::borrowed(file->handle());
  }
  File moved = *std::move(file);
  EXPECT_EQ(moved.read_at(0, out).value(), 5u);
  moved.close();
  EXPECT_FALSE(moved.is_open());
  EXPECT_FALSE(moved.read_at(0, out));
}

TEST_F(FileTest, MappedBytesOutliveTheOpenFile) {
  auto file = File::open(written("a", "abcde"), FileMode::kRead);
  auto mapped = MappedFile::map(*file, 5);
  ASSERT_TRUE(mapped) << mapped.error().message;
  file->close();
  const MappedFile moved = *std::move(mapped);
  EXPECT_EQ(text_from(moved.bytes()), "abcde");
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST_F(FileTest, AMappedFileThatShrinksShowsItsNewSize) {
  auto file = File::open(written("a", std::string(10'000, 'x')), FileMode::kRead);
  const auto mapped = MappedFile::map(*file, 10'000);
  ASSERT_TRUE(mapped);
  fs::resize_file(path_of(path("a")), 100);
  EXPECT_EQ(file->state()->bytes, 100u);
  EXPECT_EQ(text_from(mapped->bytes().first(100)), std::string(100, 'x'));
}

TEST_F(FileTest, NothingIsMappedOfAnEmptyFileOrAFolder) {
  EXPECT_TRUE(MappedFile::map(*File::open(written("a", ""), FileMode::kRead), 0)->bytes().empty());
  const auto folder = File::open(text_of(folder_), FileMode::kRead);
  if (folder) {
    EXPECT_FALSE(MappedFile::map(*folder, 1));
  }
}

}  // namespace
}  // namespace tokamak
