#include "base/guarded.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>
#include <vector>

namespace tokamak {
namespace {

TEST(Guarded, GivesTheResultOfTheCall) {
  EXPECT_EQ(guarded([]() -> Result<int> { return 7; }).value(), 7);
  const auto failed = guarded([]() -> Result<void> { return invalid_input("No {}.", "good"); });
  EXPECT_EQ(failed.error().message, "No good.");
}

TEST(Guarded, MakesAnErrorOfMemoryThatIsUsedUp) {
  const auto too_long = guarded([]() -> Result<size_t> {
    std::vector<int> all;
    all.resize(all.max_size() + 1);
    return all.size();
  });
  EXPECT_EQ(too_long.error().code, ErrorCode::kOutOfMemory);
  const auto refused = guarded([]() -> Result<void> { throw std::bad_alloc(); });
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(refused.error().message, "Out of memory.");
}

TEST(Guarded, NamesWhatTheSystemRefuses) {
  const auto refused = guarded([]() -> Result<void> {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  EXPECT_EQ(refused.error().message,
            "The system refuses a thread or a lock: Resource temporarily unavailable.");
}

TEST(GuardedDeathTest, EndsTheProgramAtABrokenInvariant) {
  EXPECT_DEATH(static_cast<void>(guarded([]() -> Result<void> { throw std::logic_error("own"); })),
               "own");
}

}  // namespace
}  // namespace tokamak
