#include "generate/steps/step_log.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

std::vector<uint32_t> steps_of(const StepLog& log, uint32_t tokens) {
  std::vector<uint32_t> steps;
  for (uint32_t at = 0; at < tokens; at += steps.back()) steps.push_back(log.rest_of_step(at));
  return steps;
}

using Steps = std::vector<uint32_t>;

TEST(StepLog, NamesTheStepsOfPromptsAndTokensBetweenThem) {
  StepLog log;
  log.add(0, 16);
  log.add(16, 5);
  EXPECT_EQ(steps_of(log, 24), (Steps{16, 5, 1, 1, 1}));
  log.add(24, 8);  // a second prompt, after three tokens that came one by one
  EXPECT_EQ(steps_of(log, 34), (Steps{16, 5, 1, 1, 1, 8, 1, 1}));
  EXPECT_EQ(log.rest_of_step(18), 3u) << "from the middle of a step to its end";
}

TEST(StepLog, StaysAsItIsWhileTheSameStepsRunAgain) {
  StepLog log;
  log.add(0, 16);
  log.add(16, 5);
  log.add(0, 16);
  log.add(16, 5);
  log.add(21, 4);
  EXPECT_EQ(steps_of(log, 25), (Steps{16, 5, 4}));
}

TEST(StepLog, IsCutWhereASequencePartsFromAnother) {
  StepLog log;
  log.add(0, 16);
  log.add(16, 8);
  log.cut(30);
  EXPECT_EQ(steps_of(log, 25), (Steps{16, 8, 1})) << "that is after its end";
  log.cut(20);
  EXPECT_EQ(steps_of(log, 22), (Steps{16, 4, 1, 1}));
  log.add(20, 6);
  EXPECT_EQ(steps_of(log, 26), (Steps{16, 4, 6}));
  log.cut(0);
  EXPECT_EQ(steps_of(log, 2), (Steps{1, 1}));
}

}  // namespace
}  // namespace tokamak
