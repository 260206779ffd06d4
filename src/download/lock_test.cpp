#include "download/lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

namespace tokamak::download {
namespace {

bool never() {
  return false;
}

class LockTest : public testing::Test {
 protected:
  LockTest() { std::filesystem::remove_all(folder_); }
  ~LockTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "tokamak_lock_" + std::to_string(::getpid());
  const std::string path_ = folder_ + "/models--org--name/tokamak.lock";
};

TEST_F(LockTest, IsHeldByOne) {
  std::optional<Lock> first = *Lock::take(path_, never);
  const auto second = Lock::take(path_, never);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kCancelled);
  first.reset();
  EXPECT_TRUE(Lock::take(path_, never));
}

/// Who waits for a file that is removed by its holder must not be alone in having it.
TEST_F(LockTest, IsOfTheFileThatIsThereNow) {
  std::optional<Lock> first = *Lock::take(path_, never);
  std::atomic<bool> waits = false;
  std::optional<Lock> second;
  std::thread other([&] {
    auto taken = Lock::take(path_, [&] { return waits = true; });
    ASSERT_TRUE(taken) << taken.error().message;
    second.emplace(*std::move(taken));
  });
  while (!waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::filesystem::remove_all(folder_);
  first.reset();
  other.join();
  EXPECT_FALSE(Lock::take(path_, never));
}

}  // namespace
}  // namespace tokamak::download
