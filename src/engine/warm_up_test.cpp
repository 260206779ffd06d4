#include "engine/warm_up.h"

#include <gtest/gtest.h>

#include "generate/schedule/fake_program_test.h"

namespace tokamak {
namespace {

TEST(WarmUp, RunsEachPhaseOnce) {
  FakeProgram program;
  program.add_long_context(64);
  std::vector<std::pair<size_t, size_t>> seen;
  ASSERT_TRUE(run_every_phase(program, [&](size_t done, size_t total) {
    seen.emplace_back(done, total);
    return true;
  }));
  EXPECT_EQ(program.log, "0@0/1 0@0/1 0@0 long 0@64 0@0 ");
  ASSERT_EQ(seen.size(), program.plan().phases.size());
  EXPECT_EQ(seen.back(), (std::pair<size_t, size_t>(4, 5)));
}

TEST(WarmUp, EndsWhenItIsCancelled) {
  FakeProgram program;
  const auto ended = run_every_phase(program, [](size_t done, size_t) { return done < 2; });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(program.submitted, 2u);
}

TEST(WarmUp, HandsOnTheErrorsOfTheDevice) {
  FakeProgram program;
  program.loses_at = 2;
  const auto lost = run_every_phase(program, {});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
}

}  // namespace
}  // namespace tokamak
