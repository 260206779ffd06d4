#include "base/system/machine.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>

#include "base/system/calendar.h"

namespace tokamak {
namespace {

TEST(Machine, HasMemoryOfWhichThisProcessUsesSome) {
  EXPECT_GT(free_machine_memory(), 0u);
  EXPECT_GT(peak_memory(), 0u);
}

TEST(Machine, CountsTheTimeOfItsProcessors) {
  const auto before = machine_times();
  if (!before) GTEST_SKIP() << "this system does not count it";
  EXPECT_GE(before->load, 0);
  EXPECT_GE(before->processors, 1u);
  EXPECT_LE(before->stolen, before->ticks);
  const std::clock_t start = std::clock();
  while (std::clock() - start < CLOCKS_PER_SEC / 20) {
  }
  const auto after = machine_times();
  ASSERT_TRUE(after);
  EXPECT_GT(after->ticks, before->ticks);
  EXPECT_GE(after->stolen, before->stolen);
}

TEST(Machine, NeverForbidsOpenFiles) {
  allow_open_files(1);
  allow_open_files(std::numeric_limits<uint64_t>::max());
}

TEST(Calendar, HasThePartsOfATime) {
  const auto parts = utc_time(951'782'400);  // 29 February 2000
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->tm_year, 100);
  EXPECT_EQ(parts->tm_mon, 1);
  EXPECT_EQ(parts->tm_mday, 29);
  EXPECT_EQ(parts->tm_hour, 0);
  EXPECT_EQ(parts->tm_wday, 2);
  const auto local = local_time(951'782'400);
  ASSERT_TRUE(local);
  EXPECT_EQ(local->tm_min % 15, 0);  // as zones differ from UTC
}

TEST(Calendar, EndsWhereYearsDoNotFit) {
  EXPECT_FALSE(utc_time(std::numeric_limits<std::time_t>::max()));
  EXPECT_FALSE(local_time(std::numeric_limits<std::time_t>::max()));
}

}  // namespace
}  // namespace tokamak
