#include "formats/byte_source.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/native_files.h"

namespace tokamak {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct FileTest : testing::Test {
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("byte_source_test.{}", ::getpid());
  FileTest() { std::filesystem::create_directories(folder); }
  ~FileTest() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = folder / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
};

/// The same behaviour is asked of both versions.
void expect_reads_only_inside(const ByteSource& source) {
  ASSERT_EQ(source.size(), 5u);
  EXPECT_EQ(text_of(*source.view(1, 3)), "bcd");
  EXPECT_EQ(source.view(5, 0)->size(), 0u);
  std::array<std::byte, 2> out{};
  ASSERT_TRUE(source.read(3, out));
  EXPECT_EQ(text_of(out), "de");

  EXPECT_EQ(source.view(1, 5).error().message,
            source.name() + ": The file has 5 bytes, but 5 bytes at byte 1 are needed.");
  EXPECT_FALSE(source.view(6, 0));
  EXPECT_FALSE(source.view(UINT64_MAX, 2));
  EXPECT_FALSE(source.view(2, UINT64_MAX));
  EXPECT_EQ(source.read(4, out).error().message,
            source.name() + ": The file has 5 bytes, but 2 bytes at byte 4 are needed.");
}

TEST(MemorySource, ReadsOnlyInside) {
  expect_reads_only_inside(*memory_source("five", bytes_of("abcde")));
}

TEST_F(FileTest, MappedFileReadsOnlyInside) {
  auto file = open_file(write("five", "abcde"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->name(), (folder / "five").string());
  expect_reads_only_inside(**file);
}

TEST_F(FileTest, EmptyFileHasNoBytes) {
  auto file = open_file(write("empty", ""));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->size(), 0u);
  EXPECT_TRUE((*file)->view(0, 0)->empty());
  EXPECT_FALSE((*file)->view(0, 1));
}

TEST_F(FileTest, ReportsAFileThatBecameShorter) {
  const std::string path = write("shrinks", std::string(10000, 'x'));
  auto file = open_file(path);
  ASSERT_TRUE(file);
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ((*file)->view(9000, 10).error().message,
            path + ": The file had 10000 bytes when it was opened and has 100 bytes now.");
  std::array<std::byte, 10> out{};
  EXPECT_EQ((*file)->read(95, out).error().message,
            path + ": The file had 10000 bytes when it was opened and has 100 bytes now.");
  EXPECT_TRUE((*file)->view(90, 10));
}

TEST_F(FileTest, KeepsWhatItOpenedWhenTheNameLeadsElsewhere) {
  const std::string path = write("replaced", "abcde");
  const auto file = open_file(path);
  ASSERT_TRUE(file);
  std::filesystem::rename(write("other", "x"), path);
  expect_reads_only_inside(**file);
  std::filesystem::remove(path);
  expect_reads_only_inside(**file);
}

TEST_F(FileTest, IsFoundAgainFromAnotherWorkingDirectory) {
  const std::filesystem::path before = std::filesystem::current_path();
  write("shrinks", "abcde");
  std::filesystem::current_path(folder);
  const auto file = open_file("shrinks");
  std::filesystem::current_path(before);
  ASSERT_TRUE(file);
  std::filesystem::resize_file(folder / "shrinks", 2);
  EXPECT_FALSE((*file)->view(1, 3));
}

TEST_F(FileTest, MoreFilesThanAProcessMayHoldOpen) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{64, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<std::shared_ptr<ByteSource>> files;
  for (int i = 0; i < 100; ++i) {
    auto file = open_file(write(fmt::format("{}", i), "abcde"));
    ASSERT_TRUE(file) << file.error().message;
    files.push_back(*std::move(file));
  }
  for (const auto& file : files) expect_reads_only_inside(*file);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST_F(FileTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(open_file(folder.string()).error().message,
            folder.string() + ": Expected a file but found a directory.");
  EXPECT_EQ(open_file((folder / "none").string()).error().message,
            (folder / "none").string() + ": Cannot open the file: No such file or directory.");
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(open_file(pipe).error().message,
            pipe + ": Expected a file but found a device or a pipe.");
  EXPECT_EQ(open_file(std::string("a\0b", 3)).error().message, "A path contains a NUL character.");
}

TEST_F(FileTest, RefusesAFileItMayNotRead) {
  const std::string path = write("secret", "abc");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const bool is_root = ::geteuid() == 0;  // root may read everything; give that up for a moment
  if (is_root && ::seteuid(65534) != 0) GTEST_SKIP() << "this user cannot become another one";
  const auto file = open_file(path);
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, path + ": Cannot open the file: Permission denied.");
}

TEST_F(FileTest, ReadsTextUpToALimit) {
  const std::string path = write("text", "hello");
  EXPECT_EQ(*read_text_file(path, 5), "hello");
  EXPECT_EQ(read_text_file(path, 4).error().message,
            path + ": The file has 5 bytes, but at most 4 are expected.");
  EXPECT_EQ(*read_text_file(write("nothing", ""), 4), "");
}

TEST_F(FileTest, DistinguishesFilesFromFolders) {
  const std::string path = write("text", "hello");
  EXPECT_TRUE(file_exists(path));
  EXPECT_TRUE(file_exists(folder.string()));
  EXPECT_FALSE(file_exists(path + "x"));
  EXPECT_TRUE(is_directory(folder.string()));
  EXPECT_FALSE(is_directory(path));
}

}  // namespace
}  // namespace tokamak
