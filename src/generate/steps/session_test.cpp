// The logits of one sequence, on devices that take their time or are lost, and sessions that get in
// each other's way.
#include "generate/steps/session.h"

#include <gtest/gtest.h>

#include <optional>

#include "generate/schedule/recorder_test.h"

namespace tokamak {
namespace {

TEST(Session, PassesEveryChunkTheLengthAfterTheCall) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3, 4, 5, 6});
  feed(session, {7});
  EXPECT_EQ(program.log, "0+4/6 4+2/6 6+1/7 ");
}

TEST(Session, TakesTheSmallestPhaseThatHoldsAChunk) {
  Recorder program(0);
  const auto smaller = [&](const char* name, uint32_t max_tokens) {
    program.plan_.phases.push_back(program.plan_.phases[0]);
    program.plan_.phases.back().name = name;
    program.plan_.phases.back().max_tokens = max_tokens;
  };
  smaller("small_batch", 2);
  smaller("decode", 1);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3, 4, 5, 6});
  feed(session, {7});
  feed(session, {1, 2, 3});
  EXPECT_EQ(program.phases, "chunk small_batch decode chunk ");
  program.losses = 1;
  program.phases.clear();
  feed(session, {8, 9});
  EXPECT_EQ(program.phases, "chunk small_batch decode chunk small_batch ")
      << "the same steps again";
}

TEST(Session, PagesRecurInTheCacheThatAttentionReads) {
  Recorder program(0);
  const auto buffer = [&](BufferUse use, Shape shape) {
    program.plan_.buffers.push_back({.use = use, .tensor = {.shape = std::move(shape)}});
    return Operand{
        BufferId(program.plan_.buffers.size() - 1), {}, program.plan_.buffers.back().tensor.shape};
  };
  const Operand pages = buffer(BufferUse::kTable, {5});
  const Operand cache = buffer(BufferUse::kState, {2 * kPageTokens, 2, 1, 2});
  program.plan_.buffers.back().tensor.state = StateSpec{StateKind::kPages};
  buffer(BufferUse::kState, {3, 8});  // of a short convolution: no pages
  program.plan_.phases[0].steps = {{.op = Attention{}, .inputs = {cache, cache, pages}}};
  ASSERT_TRUE(Session::start(program, 64, kVocab));
  EXPECT_EQ(program.table, (std::vector<uint32_t>{0, 1, 0, 1, 0}));
}

TEST(Session, RunsAgainWhenTheSequenceGetsLong) {
  Recorder program(5);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3});
  feed(session, {4, 5});
  EXPECT_EQ(program.log, "0+3/3 3+2/5 ");
  program.log.clear();
  EXPECT_EQ(feed(session, {6}), (Floats{6, 6}));
  EXPECT_EQ(program.log, "0+4/6 4+2/6 ");
  program.log.clear();
  feed(session, {7});
  EXPECT_EQ(program.log, "6+1/7 ");
  EXPECT_EQ(session.position(), 7u);
}

TEST(Session, ALongPromptRunsOnce) {
  Recorder program(5);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3, 4, 5, 6});
  feed(session, {7});
  EXPECT_EQ(program.log, "0+4/6 4+2/6 6+1/7 ");
}

TEST(Session, GivesOnlyTheNewRowsAfterRunningAgain) {
  Recorder program(3, true);
  Session session = *Session::start(program, 64, kVocab, true);
  feed(session, {1, 2, 3});
  EXPECT_EQ(feed(session, {4, 5}), (Floats{4, 5, 5, 5}));
}

TEST(Session, RunsAgainAfterACancelledLongCall) {
  Recorder program(5);
  Session session = *Session::start(program, 64, kVocab);
  int asked = 0;
  const std::vector<uint32_t> ids = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(session.feed(ids, [&] { return ++asked == 2; }));
  EXPECT_EQ(session.position(), 4u);
  program.log.clear();
  feed(session, {9});  // five tokens: short again, and the cache holds keys of a long one
  EXPECT_EQ(program.log, "0+4/5 4+1/5 ");
}

TEST(Session, RunsTheSameStepsAgainOnARestoredDevice) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3, 4, 5, 6});
  feed(session, {7});
  program.losses = 1;
  program.log.clear();
  EXPECT_EQ(feed(session, {8, 9}), (Floats{9, 9}));
  EXPECT_EQ(program.log, "restored 0+4/9 4+2/9 6+1/9 7+2/9 ");
}

TEST(Session, WritesItsTablesAgain) {
  Recorder program(0);
  program.plan_.buffers.push_back({.use = BufferUse::kTable, .tensor = {.shape = {5}}});
  Session session = *Session::start(program, 64, kVocab);
  const std::vector<uint32_t> table = program.table;
  EXPECT_FALSE(table.empty());
  program.losses = 1;
  feed(session, {1});
  EXPECT_EQ(program.table, table);
}

TEST(Session, GivesUpADeviceThatIsLostAgainAndAgain) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3});
  program.losses = 3;
  program.log.clear();
  const uint32_t id = 4;
  const auto lost = session.feed({&id, 1});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(lost.error().message.find("lost 3 times in a row"), std::string::npos);
  EXPECT_EQ(program.log, "restored restored ");
  EXPECT_EQ(session.position(), 3u);
  program.log.clear();
  program.losses = 1;
  feed(session, {id});
  EXPECT_EQ(program.log, "restored 0+3/4 3+1/4 ");
}

TEST(Session, CanBeCancelledWhileItRunsAgain) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {1, 2, 3});
  feed(session, {4});
  program.losses = 1;
  program.log.clear();
  int asked = 0;
  const uint32_t id = 5;
  const auto cancelled = session.feed({&id, 1}, [&] { return ++asked == 3; });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(program.log, "restored 0+3/5 ");
  program.log.clear();
  feed(session, {id});  // what the device holds is not the sequence
  EXPECT_EQ(program.log, "0+3/5 3+1/5 4+1/5 ") << "the same steps again";
}

/// The first `count` ids.
Ids some_ids(uint32_t count) {
  Ids ids(count);
  for (uint32_t i = 0; i < count; ++i) ids[i] = i % kVocab;
  return ids;
}

TEST(Session, RunsNotFarAheadOfTheDeviceInALongPrompt) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, some_ids(40));
  EXPECT_EQ(program.submitted, 10u);
  EXPECT_EQ(program.most_in_flight, 3u) << "and keeps it busy";
  program.losses = 1;
  program.most_in_flight = 0;
  feed(session, some_ids(4));
  EXPECT_EQ(program.submitted, 21u);
  EXPECT_EQ(program.most_in_flight, 3u) << "also when it runs the prompt again";
}

TEST(Session, EndsALongPromptSoonAfterItIsCancelled) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  const auto finished = [&] { return program.submitted - program.in_flight; };
  const auto fed = session.feed(some_ids(40), [&] { return finished() >= 3; });
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(program.submitted, 5u);
  EXPECT_EQ(session.position(), 20u);
}

TEST(Session, IsNotTouchedByAResultThatComesAfterAFailedWait) {
  Recorder program(0);
  std::optional<Session> session = *Session::start(program, 64, kVocab);
  const Ids ids = {1, 2};
  const Floats ten(kVocab, 10);
  for (const bool is_error : {false, true}) {
    program.failing_waits = 1;
    const auto failed = session->feed(ids);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "Waiting fails.");
    if (is_error) {
      program.late(fail(ErrorCode::kDevice, "Late."));
    } else {
      program.late(std::span<const float>(ten));
    }
    EXPECT_EQ(feed(*session, {3})[0], 3);
  }
  program.failing_waits = 1;
  EXPECT_FALSE(session->feed(ids));
  session.reset();
  program.late(std::span<const float>(ten));  // into what is no part of the session
}

void expect_ended(const Result<std::span<const float>>& used) {
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(used.error().message.starts_with("This session has ended: another one was started"))
      << used.error().message;
}

TEST(Session, EndsWhenAnotherOneIsStartedOnItsProgram) {
  Recorder program(0);
  Session old = *Session::start(program, 64, kVocab);
  feed(old, {1, 2});
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {3});
  program.log.clear();
  expect_ended(old.feed(some_ids(1)));
  EXPECT_EQ(program.log, "");
  EXPECT_EQ(feed(session, {4})[0], 4) << "the newest goes on";
}

TEST(Session, EndsWhenACallbackStartsAnother) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  uint32_t asked = 0;
  expect_ended(session.feed(some_ids(40), [&] {
    if (++asked == 2) {
      EXPECT_TRUE(Session::start(program, 64, kVocab));
    }
    return false;
  }));
  EXPECT_EQ(program.log, "0+4/40 ");
}

TEST(Session, CannotBeCalledFromItsOwnCallbacks) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  std::string message;
  EXPECT_TRUE(session.feed(some_ids(8), [&] {
    message = session.feed(some_ids(1)).error().message;
    return false;
  })) << "and is not disturbed by the attempt";
  EXPECT_EQ(message, "This session is in the middle of a call: a callback must not call it again.");
  EXPECT_EQ(session.position(), 8u);
}

}  // namespace
}  // namespace tokamak
