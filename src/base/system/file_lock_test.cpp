#include "base/system/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace tokamak {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest() { std::filesystem::remove(path_); }
  ~FileLockTest() override { std::filesystem::remove(path_); }

  File opened() const { return *File::open(path_, FileMode::kCreate); }

  const std::string path_ = testing::TempDir() + "tokamak_system_lock";
};

TEST_F(FileLockTest, IsOfOneUntilTheFileIsClosed) {
  File first = opened();
  const File second = opened();
  EXPECT_TRUE(try_lock(first).value());
  EXPECT_TRUE(try_lock(first).value());
  EXPECT_FALSE(try_lock(second).value());
  first.close();
  EXPECT_TRUE(try_lock(second).value());
}

TEST_F(FileLockTest, EndsWithTheProcessThatHasIt) {
  int go_on[2], taken[2];
  ASSERT_EQ(pipe(go_on), 0);
  ASSERT_EQ(pipe(taken), 0);
  const pid_t other = fork();
  if (other == 0) {
    const File file = opened();
    char byte = try_lock(file).value_or(false) ? 1 : 0;
    bool done = write(taken[1], &byte, 1) == 1;
    done = done && read(go_on[0], &byte, 1) == 1;
    _exit(done ? 0 : 1);  // without closing the file
  }
  char byte = 0;
  ASSERT_EQ(read(taken[0], &byte, 1), 1);
  EXPECT_EQ(byte, 1);
  const File file = opened();
  EXPECT_FALSE(try_lock(file).value());
  ASSERT_EQ(write(go_on[1], &byte, 1), 1);
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(try_lock(file).value());
  for (const int end : {go_on[0], go_on[1], taken[0], taken[1]}) close(end);
}

TEST_F(FileLockTest, IsRefusedWhereNothingIsOpen) {
  EXPECT_FALSE(try_lock(File()));
}

}  // namespace
}  // namespace tokamak
