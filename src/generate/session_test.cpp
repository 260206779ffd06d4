#include "generate/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "generate/fake_sampler_test.h"
#include "generate/recorder_test.h"

namespace tokamak {
namespace {

TEST(Session, DrawsAheadAndTakesBackWhatWasDrawnWrongly) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 40);
  EXPECT_EQ(sample_until(session, 5, 40, 8), (Ids{6, 7, 8}));
  EXPECT_EQ(session.position(), 3u) << "5, 6 and 7 are part of the sequence";
  EXPECT_TRUE(program.log.starts_with("5@0 6@1 7@2 8@3 ")) << program.log;
  program.log.clear();
  EXPECT_EQ(sample_until(session, 20, 2, 0), (Ids{21, 22}));
  EXPECT_EQ(program.log, "20@3 21@4 ");
  EXPECT_EQ(session.position(), 5u);
}

TEST(Session, TellsTheDeviceWhatHasOccurredWhereThatIsPenalized) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 70);
  const std::vector<uint32_t> previous = {0, 31, 32, 69, 31};
  SamplingStart start{.rule = {}, .previous_ids = previous};
  const auto draw = [&](uint32_t id) {
    return session.sample(id, 1, [&] { return start; }, [](auto, uint32_t) { return true; });
  };
  ASSERT_TRUE(draw(5));
  EXPECT_TRUE(program.occurred.empty());
  start.rule.repetition_penalty = 1.1f;
  ASSERT_TRUE(draw(6));
  EXPECT_EQ(program.occurred, (std::vector<uint32_t>{0x80000001u, 1, 1u << 5}));
}

TEST(Session, TakesThePhaseForLongContextFromThereOn) {
  // Wherever that is in the groups of steps that are under way.
  for (uint32_t long_context = 1; long_context < 9; ++long_context) {
    FakeSampler program;
    program.add_long_context(long_context);
    program.arrive_together = true;
    Session session = *Session::start(program, 64, 40);
    sample_until(session, 5, 9, 0);
    std::string expected;
    for (uint32_t at = 0; at < 9; ++at) {
      expected += fmt::format("{}{}@{} ", at < long_context ? "" : "long ", 5 + at, at);
    }
    EXPECT_EQ(program.log, expected);
    program.log.clear();
    ASSERT_TRUE(session.logits_after_list());
    EXPECT_EQ(program.log, "logits ") << "those of the long phase";
    ASSERT_TRUE(session.feed_for_list(20, 1));
    EXPECT_EQ(program.log, "logits long 20@9 ");
  }
}

TEST(Session, ReadsLogitsAfterAListOrMakesThemAgain) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 40);
  sample_until(session, 5, 3, 0);
  program.log.clear();
  auto logits = session.logits_after_list();
  ASSERT_TRUE(logits);
  EXPECT_EQ(program.log, "logits ") << "nothing ran ahead of them";
  EXPECT_EQ((*logits)[0], 8);
  sample_until(session, 8, 9, 10);
  EXPECT_EQ(session.position(), 5u);
  program.log.clear();
  logits = session.logits_after_list();
  ASSERT_TRUE(logits);
  EXPECT_EQ(program.log, "9@4 logits ") << "the device has gone on";
  EXPECT_EQ((*logits)[0], 10);
  EXPECT_EQ(session.position(), 5u);
}

TEST(Session, DrawsOnAfterALossOfTheDevice) {
  FakeSampler program;
  Session session = *Session::start(program, 64, 40);
  sample_until(session, 5, 2, 0);
  program.losses = 1;
  program.log.clear();
  EXPECT_EQ(sample_until(session, 7, 2, 0), (Ids{8, 9}));
  EXPECT_EQ(program.log, "restored 5@0 6@1 7@2 8@3 ");
}

/// The ids from `first` on, as the FakeSampler's state has them.
std::string ids_text(uint32_t first, uint32_t count) {
  std::string text;
  for (uint32_t id = first; id < first + count; ++id) text += fmt::format("{} ", id);
  return text;
}

/// Copies are at least 16 steps apart, and a group is not divided for one.
constexpr int kMaxAgain = 16 + int(FakeSampler::kLists) / 2 - 1;

TEST(Session, TakesBackWhatStatesHaveTakenInTooMuch) {
  for (uint32_t wrong = 2; wrong < 60; ++wrong) {
    FakeSampler program(true);
    Session session = *Session::start(program, 64, 100);
    sample_until(session, 1, 64, wrong);
    EXPECT_EQ(session.position(), wrong - 1);
    program.log.clear();
    sample_until(session, wrong, 1, 0);
    EXPECT_EQ(program.state(), ids_text(1, wrong));
    EXPECT_LE(std::ranges::count(program.log, '@'), kMaxAgain + 1);
    program.log.clear();
    sample_until(session, wrong + 1, 1, 0);
    EXPECT_EQ(program.log, fmt::format("{}@{} ", wrong + 1, wrong)) << "taken back once";
  }
}

TEST(Session, TakesBackTheLastStepWhereItsLogitsAreGone) {
  for (uint32_t wrong = 2; wrong < 60; ++wrong) {
    FakeSampler program(true);
    Session session = *Session::start(program, 64, 100);
    sample_until(session, 1, 64, wrong);
    program.log.clear();
    ASSERT_TRUE(session.logits_after_list());
    EXPECT_EQ(program.state(), ids_text(1, wrong - 1));
    EXPECT_LE(std::ranges::count(program.log, '@'), kMaxAgain + 1);
  }
}

TEST(Session, CopiesOfStatesAreOfTheSequenceThatWentOn) {
  for (uint32_t wrong = 10; wrong < 60; ++wrong) {
    FakeSampler program(true);
    Session session = *Session::start(program, 128, 400);
    sample_until(session, 1, 100, wrong);
    sample_until(session, 100, 30, 109);  // after 1 to wrong - 1
    sample_until(session, 200, 1, 0);
    const std::string expected = ids_text(1, wrong - 1) + ids_text(100, 9);
    EXPECT_EQ(program.state(), expected + "200 ");
    sample_until(session, 201, 20, 210);
    program.losses = 1;
    sample_until(session, 210, 1, 0);
    EXPECT_EQ(program.state(), expected + ids_text(200, 11)) << "no copy outlives its device";
  }
}

TEST(Session, ATokenWhoseLogitsCannotBeReadLeavesTheStates) {
  FakeSampler program(true);
  Session session = *Session::start(program, 64, 100);
  sample_until(session, 1, 3, 0);
  program.failures = 1;
  EXPECT_FALSE(session.logits_after_list());
  EXPECT_EQ(session.position(), 2u);
  const uint32_t id = 50;
  ASSERT_TRUE(session.feed({&id, 1}));
  EXPECT_EQ(program.state(), "1 2 50 ");
}

TEST(Session, CopiesNothingForAStepThatNothingFollows) {
  FakeSampler program(true);
  Session session = *Session::start(program, 64, 100);
  sample_until(session, 1, 1, 0);
  EXPECT_EQ(program.copies, 0u);
  sample_until(session, 2, 40, 0);
  EXPECT_EQ(program.copies, 3u) << "one for every sixteen steps";
}

TEST(Session, TellsEveryChunkTheLengthAfterTheCall) {
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

TEST(Session, ChoosesNothingAfterALongPromptThatWasCancelled) {
  FakeSampler program;
  Buffer angles{.use = BufferUse::kConstant};
  angles.tensor.recipe = RopeTable{{1.0f}, 1, 5, {0.5f}};
  program.plan_.buffers.push_back(angles);
  Session session = *Session::start(program, 64, kVocab);
  EXPECT_EQ(session.sampling_room(), 5u);
  int asked = 0;
  const Ids ids = {1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(session.feed(ids, [&] { return ++asked == 3; }));
  EXPECT_EQ(session.position(), 2u);
  EXPECT_EQ(session.sampling_room(), 0u) << "its keys are those of a long sequence";
  const uint32_t id = 3;
  ASSERT_TRUE(session.feed({&id, 1}));
  EXPECT_EQ(session.sampling_room(), 2u);
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

/// What is fed after keep_prefix() for a prompt.
std::string fed_for(Session& session, Recorder& program, const Ids& prompt) {
  program.log.clear();
  const uint32_t kept = session.keep_prefix(prompt);
  feed(session, Ids(prompt.begin() + kept, prompt.end()));
  return program.log;
}

TEST(Session, FeedsOnlyWhatANewPromptDoesNotShare) {
  Recorder program(0);
  Session session = *Session::start(program, 64, kVocab);
  EXPECT_EQ(fed_for(session, program, {1, 2, 3, 4, 5}), "0+4/5 4+1/5 ");
  EXPECT_EQ(fed_for(session, program, {1, 2, 3, 4, 5, 6, 7}), "5+2/7 ");
  EXPECT_EQ(fed_for(session, program, {1, 2, 9}), "2+1/3 ") << "the others are forgotten";
  EXPECT_EQ(fed_for(session, program, {1, 2, 9}), "2+1/3 ") << "the last one gives the logits";
  EXPECT_EQ(fed_for(session, program, {8, 2}), "0+2/2 ");
  program.losses = 1;
  EXPECT_EQ(fed_for(session, program, {8, 2, 3}), "restored 0+2/3 2+1/3 ");
  program.losses = 1;
  EXPECT_EQ(fed_for(session, program, {8, 3}), "restored 0+1/2 1+1/2 ")
      << "a step that was cut runs again as far as it still counts";
}

TEST(Session, GoesBackOnlyToWhatAWindowStillHolds) {
  Recorder program(0);
  Buffer cache{.use = BufferUse::kState};
  cache.tensor.shape = {8, 1};
  cache.tensor.window = 4;
  program.plan_.buffers.push_back(cache);
  Session session = *Session::start(program, 64, kVocab);
  feed(session, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(fed_for(session, program, {0, 9}), "1+1/2 ") << "nothing has been pushed out";
  feed(session, {1, 2, 3, 4, 5, 6, 7, 8});  // the cache holds positions 2 to 9
  EXPECT_EQ(fed_for(session, program, {0, 9, 1, 2, 3, 4, 0}), "6+1/7 ");
  EXPECT_EQ(fed_for(session, program, {0, 9, 1, 2, 3, 0}), "0+4/6 4+2/6 ")
      << "position 1, which the window at 5 sees, went although the sequence is shorter now";
}

TEST(Session, GoesBackToACopyOfRecurrentStates) {
  FakeSampler program(true);
  Session session = *Session::start(program, 64, 60);
  sample_until(session, 5, 20, 0);  // feeds 5 to 24; copies are from position 0 and further on
  Ids prompt(18);
  for (uint32_t i = 0; i < 18; ++i) prompt[i] = 5 + i;
  prompt.push_back(50);
  const uint32_t kept = session.keep_prefix(prompt);
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, 18u);
  for (uint32_t i = kept; i < prompt.size(); ++i) ASSERT_TRUE(session.feed({&prompt[i], 1}));
  EXPECT_EQ(program.state(), "5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 50 ");
  EXPECT_EQ(session.keep_prefix(Ids{5, 40}), 0u) << "no copy is from so early";
  const uint32_t id = 40;
  ASSERT_TRUE(session.feed({&id, 1}));
  EXPECT_EQ(program.state(), "40 ");
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

}  // namespace
}  // namespace tokamak
