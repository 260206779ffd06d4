#include "backend/webgpu/dawn/loader.h"

#include <gtest/gtest.h>
#include <webgpu/webgpu.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace tokamak {
namespace {

/// A file of this test only, removed at its end.
struct ScratchFile {
  explicit ScratchFile(const std::string& content)
      : path(testing::TempDir() + "tokamak_" +
             testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~ScratchFile() { std::remove(path.c_str()); }

  std::string path;
};

std::string dawn_bytes() {
  std::ifstream file(TOKAMAK_DAWN_FILE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string message_of(const Result<void>& result) {
  return result ? "" : result.error().message;
}

// GoogleTest runs the tests of one file in their order: the failures come first, because the first
// success stays.
TEST(DawnLoader, NamesAMissingFileAndHowToGetIt) {
  const Result<void> result = load_dawn("/nonexistent/dawn.node");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kDevice);
  EXPECT_EQ(result.error().message,
            "\"/nonexistent/dawn.node\" cannot be opened: No such file or directory. "
            "./dev setup fetches Dawn.");
}

TEST(DawnLoader, RefusesAFileThatIsNotElf) {
  const ScratchFile file(std::string(200, 't'));
  EXPECT_NE(message_of(load_dawn(file.path)).find("does not start as an ELF file"),
            std::string::npos);
}

TEST(DawnLoader, RefusesAFolderAndAnEmptyFile) {
  const ScratchFile file("");
  EXPECT_NE(message_of(load_dawn(file.path)).find("ELF"), std::string::npos);
  EXPECT_NE(message_of(load_dawn(testing::TempDir())).find("ELF"), std::string::npos);
}

TEST(DawnLoader, RefusesATruncatedCopyAtEveryLength) {
  const std::string whole = dawn_bytes();
  ASSERT_GT(whole.size(), 1u << 20);
  for (const size_t bytes :
       {size_t{64}, size_t{1000}, size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    const ScratchFile file(whole.substr(0, bytes));
    EXPECT_NE(message_of(load_dawn(file.path)).find("ends before its"), std::string::npos) << bytes;
  }
}

TEST(DawnLoader, RefusesACopyThatLostItsSegments) {
  std::string half = dawn_bytes();
  half.resize(half.size() / 2);
  half.replace(0x28, 8, 8, '\0');  // e_shoff
  half.replace(0x3C, 2, 2, '\0');  // e_shnum: without sections only the segments are missed
  const ScratchFile file(half);
  EXPECT_NE(message_of(load_dawn(file.path)).find("ends before its segments"), std::string::npos);
}

TEST(DawnLoader, RefusesAnElfFileThatIsNotDawn) {
  EXPECT_NE(message_of(load_dawn("/proc/self/exe")).find("/proc/self/exe"), std::string::npos);
}

TEST(DawnLoader, RefusesAnotherRevisionOfDawn) {
  std::string bytes = dawn_bytes();
  const std::string revision = "\x77\xf9\xa9\xaa\x5f\x71\x80\x95";
  size_t at = bytes.find(revision);
  ASSERT_NE(at, std::string::npos);
  for (; at != std::string::npos; at = bytes.find(revision)) bytes[at] = '\x88';
  const ScratchFile file(bytes);
  EXPECT_NE(message_of(load_dawn(file.path)).find("is Dawn 88f9a9aa5f718095"), std::string::npos);
}

TEST(DawnLoader, MakesTheFunctionsCallable) {
  const Result<void> result = load_dawn();
  ASSERT_TRUE(result) << result.error().message;
  const WGPUInstance instance = wgpuCreateInstance(nullptr);
  ASSERT_NE(instance, nullptr);
  wgpuInstanceRelease(instance);
  EXPECT_TRUE(load_dawn("/nonexistent/dawn.node"));  // the first success stays
}

}  // namespace
}  // namespace tokamak
