// Sessions on devices that take their time, fail or lie, and sessions that get in each other's way.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "generate/fake_sampler_test.h"
#include "generate/recorder_test.h"

namespace tokamak {
namespace {

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
  EXPECT_EQ(program.most_under_way, 3u) << "and keeps it busy";
  program.losses = 1;
  program.most_under_way = 0;
  feed(session, some_ids(4));
  EXPECT_EQ(program.submitted, 21u);
  EXPECT_EQ(program.most_under_way, 3u) << "also when it runs the prompt again";
}

TEST(Session, EndsALongPromptSoonAfterItIsCancelled) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  const auto finished = [&] { return program.submitted - program.under_way; };
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

TEST(Session, EndsWhenAnotherOneIsStartedOnItsProgram) {
  FakeSampler program;
  Session old = *Session::start(program, 64, 40);
  sample_until(old, 5, 3, 0);
  Session session = *Session::start(program, 64, 40);
  sample_until(session, 20, 3, 0);
  program.log.clear();
  const uint32_t id = 8;
  const auto refuses = [](const auto& used) {
    ASSERT_FALSE(used);
    EXPECT_EQ(used.error().code, ErrorCode::kUsage);
    EXPECT_TRUE(used.error().message.starts_with("This session has ended: another one was started"))
        << used.error().message;
  };
  refuses(old.feed({&id, 1}));
  refuses(old.feed_for_list(id, 1));
  refuses(old.logits_after_list());
  refuses(old.sample(id, 1, [] { return SamplingStart(); }, [](auto, uint32_t) { return true; }));
  refuses(old.greedy(id, 1, [](uint32_t) { return true; }));
  EXPECT_EQ(program.log, "");
  EXPECT_EQ(sample_until(session, 23, 2, 0), (Ids{24, 25})) << "the newest goes on";
}

TEST(Session, EndsWhenACallbackStartsAnother) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 40);
  uint32_t seen = 0;
  const auto drawn = session.sample(
      5, 40, [] { return SamplingStart(); },
      [&](auto, uint32_t) {
        if (++seen == 2) {
          EXPECT_TRUE(Session::start(program, 64, 40));
        }
        return true;
      });
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, ErrorCode::kUsage);
  EXPECT_LT(seen, 10u) << "what was under way then is still right";
}

TEST(Session, CannotBeCalledFromItsOwnCallbacks) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 40);
  std::string message;
  const auto drawn = session.sample(
      5, 3, [] { return SamplingStart(); },
      [&](auto, uint32_t token) {
        const auto again = session.feed({&token, 1});
        EXPECT_FALSE(again);
        message = again.error().message;
        return true;
      });
  EXPECT_TRUE(drawn) << "and is not disturbed by the attempt";
  EXPECT_EQ(message, "This session is in the middle of a call: a callback must not call it again.");
  EXPECT_EQ(session.position(), 3u);
}

TEST(Session, RefusesWhatIsNoTokenFromTheDevice) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {nan, HUGE_VALF, -HUGE_VALF, -2.0f, 0.5f, 40.0f, 3e9f}) {
    for (const bool in_list : {false, true}) {
      FakeSampler program;
      Session session = *Session::start(program, 64, 40);
      (in_list ? program.wrong_listed : program.wrong_token) = wrong;
      const auto drawn =
          session.sample(5, 3, [] { return SamplingStart(); }, [](auto, uint32_t) { return true; });
      ASSERT_FALSE(drawn) << wrong;
      EXPECT_EQ(drawn.error().code, ErrorCode::kDevice);
      EXPECT_EQ(drawn.error().message,
                fmt::format("The device gives {} as a token after position 0, expected a whole "
                            "number below 40, or -1 for none.",
                            wrong));
    }
    FakeSampler program;
    program.wrong_listed = wrong;
    Session session = *Session::start(program, 64, 40);
    EXPECT_FALSE(session.feed_for_list(5, 1)) << wrong;
  }
}

TEST(Session, LetsTheDeviceChooseOnlyWhereItsNumbersNameEveryToken) {
  FakeSampler program;
  EXPECT_TRUE(Session::start(program, 64, 1u << 24)->gives_list());
  EXPECT_FALSE(Session::start(program, 64, (1u << 24) + 1)->gives_list());
}

}  // namespace
}  // namespace tokamak
