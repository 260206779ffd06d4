// One sequence on a device that takes its time, guesses wrongly, is lost or lies. What many do at
// once is in tests/reliability and tests/invariants, with models.
#include "generate/schedule/scheduler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "generate/schedule/fake_program_test.h"

namespace tokamak {
namespace {

constexpr SamplingParams kDrawn = {.temperature = 1, .top_k = 4, .seed = 1};
constexpr SamplingParams kGreedy = {.temperature = 0};

struct Made {
  Ids ids;
  size_t cached = 0;
  FinishReason finish = {};
  std::string error;
};

/// `first`, `first` + 1, ...
Ids count_up(uint32_t first, uint32_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

std::string text_of(const Ids& ids) {
  return fmt::format("{} ", fmt::join(ids, " "));
}

struct OneSequence {
  explicit OneSequence(FakeProgram& program, uint32_t context = 512) : program_(program) {
    const SchedulerOptions options = {.context = context, .vocab = FakeProgram::kVocab};
    // Quick steps: the device runs far ahead.
    const Clock clock = [now = std::make_shared<double>(0)] { return *now += 1e-4; };
    scheduler = *Scheduler::make(program, nullptr, options, clock);
  }

  /// `end`: a token that ends it.
  Made generate(Ids prompt, uint32_t count, const SamplingParams& sampling = kDrawn,
                uint32_t end = UINT32_MAX) const {
    program_.log.clear();
    Made made;
    Request request{.prompt = std::move(prompt)};
    request.params.sampling = sampling;
    request.params.max_tokens = count;
    request.params.end_ids = {end};
    request.done = [&](Result<Generation> done) {
      if (!done) {
        made.error = done.error().message;
      } else {
        made = {done->ids, done->cached_tokens, done->finish, ""};
      }
    };
    EXPECT_TRUE(scheduler->add(std::move(request)));
    const auto ran = scheduler->run();
    EXPECT_EQ(ran.has_value(), made.error.empty() || ran.has_value());
    return made;
  }

  std::unique_ptr<Scheduler> scheduler;

 private:
  FakeProgram& program_;
};

size_t tokens_fed(const FakeProgram& program) {
  return size_t(std::ranges::count(program.log, '@') + std::ranges::count(program.log, '+'));
}

TEST(OneSequence, RunsAheadAndTakesBackWhatTheDeviceGuessedWrongly) {
  for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
    FakeProgram program;
    OneSequence one(program);
    program.misguessed = {8};
    const bool is_greedy = sampling.temperature == 0;
    const Made made = one.generate({5}, 20, sampling);
    if (is_greedy) {
      EXPECT_EQ(made.ids[2], 108u) << "where the device decides, what it says is right";
    } else {
      EXPECT_EQ(made.ids, count_up(6, 20));
      EXPECT_NE(program.log.find(" 108@3 "), std::string::npos) << program.log;
      EXPECT_EQ(program.cached(20), count_up(5, 20));
    }
  }
}

TEST(OneSequence, UploadsWhatHasOccurredWhereThatIsPenalized) {
  FakeProgram program;
  program.misguessed = {8};
  SamplingParams penalized = kDrawn;
  penalized.repetition_penalty = 1.1;
  OneSequence one(program);
  EXPECT_EQ(one.generate({5}, 20, kDrawn).ids, count_up(6, 20));
  EXPECT_TRUE(program.occurred.empty());
  EXPECT_EQ(one.generate({5}, 20, penalized).ids, count_up(6, 20));
  ASSERT_EQ(program.occurred.size(), 2u) << "once more after a wrong guess";
  EXPECT_EQ(program.occurred[0], (Ids{1u << 5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(program.occurred[1], (Ids{0xF << 5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_NE(program.log.find(" 108@3 "), std::string::npos) << "it runs ahead: " << program.log;
}

TEST(OneSequence, SubmitsAsManyStepsTogetherAsItRunsAhead) {
  for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
    FakeProgram program;
    OneSequence one(program);
    EXPECT_EQ(one.generate({5}, 129, sampling).ids, count_up(6, 129));
    EXPECT_LE(program.submitted, 2 + 4 + 128 / 8) << "groups of 8, once they have grown to that";
    EXPECT_EQ(tokens_fed(program), 129u) << "and nothing for nothing";
  }
}

TEST(OneSequence, TakesThePhaseForLongContextFromThereOn) {
  // Wherever that is in the groups of steps that are in flight.
  for (uint32_t long_context = 1; long_context < 20; ++long_context) {
    FakeProgram program;
    program.add_long_context(long_context);
    OneSequence one(program);
    one.generate({5}, 20);
    std::string expected;
    for (uint32_t at = 0; at < 20; ++at) {
      expected += fmt::format("{}{}@{} ", at < long_context ? "" : "long ", 5 + at, at);
    }
    EXPECT_EQ(program.log, expected);
  }
}

TEST(OneSequence, ReadsLogitsAfterAListOrMakesThemAgain) {
  FakeProgram program;
  OneSequence one(program);
  program.insufficient = {7, 9};
  EXPECT_EQ(one.generate({5}, 6).ids, count_up(6, 6));
  EXPECT_TRUE(program.log.starts_with("5@0 6@1 7@2 ")) << "the device has gone on";
  EXPECT_NE(program.log.find(" 6@1/2 7@2 8@3 logits 9@4 "), std::string::npos)
      << "once more for all logits; then, without running ahead, those are there: " << program.log;
}

TEST(OneSequence, RunsAheadAgainAfterListsThatWereEnough) {
  for (const bool is_recurrent : {false, true}) {
    FakeProgram program(is_recurrent);
    OneSequence one(program);
    program.insufficient = {15};
    const uint32_t alone = is_recurrent ? 16 : 8;
    EXPECT_EQ(one.generate({5}, 10 + alone).ids, count_up(6, 10 + alone));
    const uint32_t before = program.submitted;
    EXPECT_GE(before, alone + 2);
    EXPECT_EQ(one.generate({30}, 10 + alone).ids, count_up(31, 10 + alone));
    EXPECT_LE(program.submitted - before, 9u) << "where no list misses";
  }
}

TEST(OneSequence, StatesGoBackToACheckpointWhereTheDeviceGuessedWrongly) {
  for (uint32_t wrong = 7; wrong < 70; ++wrong) {
    FakeProgram program(true);
    OneSequence one(program);
    program.misguessed = {wrong};
    EXPECT_EQ(one.generate({5}, 80).ids, count_up(6, 80)) << wrong;
    EXPECT_EQ(program.state(), text_of(count_up(5, 80))) << wrong;
    EXPECT_LE(tokens_fed(program), 80u + 16 + 2 * kPageTokens) << "and only the last run again";
  }
}

TEST(OneSequence, StatesGoBackAlsoWhereAListIsNotEnough) {
  for (uint32_t missed = 7; missed < 70; ++missed) {
    FakeProgram program(true);
    OneSequence one(program);
    program.insufficient = {missed};
    EXPECT_EQ(one.generate({5}, 80).ids, count_up(6, 80)) << missed;
    EXPECT_EQ(program.state(), text_of(count_up(5, 80))) << missed;
  }
}

TEST(OneSequence, CopiesStatesWhereAPageBegins) {
  FakeProgram program(true);
  OneSequence one(program);
  one.generate({5}, 12);
  EXPECT_EQ(program.copies, 0u);
  one.generate({105}, 70);
  EXPECT_EQ(program.copies, 4u) << "one for every sixteen steps";
}

/// A turn of a conversation: what was said, what came of it, and more.
Ids next_turn(Ids prompt, const Made& made, const Ids& more) {
  prompt.insert(prompt.end(), made.ids.begin(), made.ids.end());
  prompt.insert(prompt.end(), more.begin(), more.end());
  return prompt;
}

TEST(OneSequence, OfAConversationOnlyTheLastPageRunsAgain) {
  for (const std::string kind : {"full", "window", "recurrent"}) {
    FakeProgram program(kind == "recurrent");
    program.add_cache(1024, 0);
    if (kind == "window") program.add_cache(256, 128);
    OneSequence one(program);
    Ids prompt = count_up(5, 40);
    // It ends while the device is several steps further.
    Made made = one.generate(prompt, 80, kDrawn, 100);
    EXPECT_EQ(made.cached, 0u);
    for (uint32_t turn = 0; turn < 5; ++turn) {
      const size_t before = prompt.size() + made.ids.size();
      prompt = next_turn(prompt, made, count_up(40 + turn, 20));
      made = one.generate(prompt, 80, kDrawn, 100);
      // The last token of the answer has not run.
      EXPECT_GE(made.cached + 2 * kPageTokens, before) << kind << turn;
      EXPECT_EQ(made.ids, count_up(60 + turn, 41 - turn));
      EXPECT_EQ(program.cached(uint32_t(prompt.size())), prompt) << kind << turn;
      if (kind == "recurrent") {
        EXPECT_TRUE(program.state().starts_with(text_of(prompt))) << turn;
      }
    }
  }
}

TEST(OneSequence, GoesBackOnlyToWhatAWindowStillHolds) {
  FakeProgram program;
  program.add_cache(1024, 0);
  program.add_cache(64, 32);
  OneSequence one(program);
  Ids prompt = count_up(0, 63);
  EXPECT_EQ(one.generate(prompt, 1).cached, 0u);
  prompt[20] = 200;
  EXPECT_EQ(one.generate(prompt, 1).cached, 16u) << "nothing has been pushed out";
  prompt = next_turn(prompt, {}, count_up(0, 64));  // the ring holds positions 63 to 126
  EXPECT_EQ(one.generate(prompt, 1).cached, 48u);
  prompt[100] = 201;
  EXPECT_EQ(one.generate(prompt, 1).cached, 96u) << "the window there begins with position 65";
  prompt[90] = 201;
  EXPECT_EQ(one.generate(prompt, 1).cached, 0u)
      << "position 49, which the window at 80 sees, went although the pages are there";
}

TEST(OneSequence, RunsNotFurtherAheadThanWindowsAllow) {
  FakeProgram program;
  program.add_cache(1024, 0);
  program.add_cache(64, 45);
  OneSequence one(program);
  program.misguessed = {80};
  EXPECT_EQ(one.generate({5}, 100).ids, count_up(6, 100));
  // Position 75 was run with a wrong token, and the steps ahead of it are those until it was known.
  uint32_t ahead = 0;
  for (uint32_t id = 180; program.log.find(fmt::format(" {}@", id)) != std::string::npos; ++id) {
    ++ahead;
  }
  EXPECT_GE(ahead, 1u);
  EXPECT_LE(ahead, 4u) << "the ring has four cells beyond the window and a page begun";
}

TEST(OneSequence, RunsAgainInChunksWhenItGetsLong) {
  for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
    FakeProgram program;
    program.add_long_rope(8);
    OneSequence one(program);
    EXPECT_EQ(one.generate(count_up(5, 6), 6, sampling).ids, count_up(11, 6));
    EXPECT_NE(program.log.find("5+6+7+8@0/9 9+10+11+12@4/9 "), std::string::npos) << program.log;
    EXPECT_EQ(program.log.find("@8 "), program.log.rfind("@8 ")) << "no step crosses the border";
    EXPECT_EQ(one.generate(count_up(5, 12), 2, sampling).ids, count_up(17, 2));
    EXPECT_EQ(std::ranges::count(program.log, '/'), 3) << "a long prompt runs once";
  }
}

TEST(OneSequence, RunsTheSameStepsAgainOnARestoredDevice) {
  for (const bool is_recurrent : {false, true}) {
    FakeProgram count(is_recurrent);
    OneSequence(count).generate(count_up(5, 10), 60);
    for (uint32_t at = 1; at <= count.submitted; ++at) {
      FakeProgram program(is_recurrent);
      program.loses_at = at;
      OneSequence one(program);
      EXPECT_EQ(one.generate(count_up(5, 10), 60).ids, count_up(15, 60)) << at;
      EXPECT_EQ(program.cached(69), count_up(5, 69)) << at;
      const std::string after = program.log.substr(program.log.find("restored "));
      EXPECT_TRUE(after.starts_with("restored 5+6+7+8@0/")) << at << after;
      if (at <= 3) continue;
      // The generated tokens run one by one.
      EXPECT_NE(after.find(" 9+10+11+12@4/"), std::string::npos) << after;
      EXPECT_NE(after.find(" 13+14@8/"), std::string::npos) << after;
      EXPECT_EQ(std::ranges::count(after, '+'), 3 + 3 + 1) << after;
      if (is_recurrent) {
        EXPECT_EQ(program.state(), text_of(count_up(5, 69)));
      }
    }
  }
}

TEST(OneSequence, TheSameStepsAlsoRunAgainOfWhatAnEarlierTurnHasLeft) {
  for (uint32_t at = 0; at < 3; ++at) {
    FakeProgram program;
    program.add_cache(1024, 0);
    OneSequence one(program);
    const Ids prompt = count_up(5, 30);
    const Made made = one.generate(prompt, 30);
    program.loses_at = program.submitted + 1 + at;
    const Ids next = next_turn(prompt, made, {200, 201});
    EXPECT_EQ(one.generate(next, 3).ids, count_up(202, 3));
    const std::string after = program.log.substr(program.log.find("restored "));
    EXPECT_NE(after.find(" 33+34@28/"), std::string::npos) << "the end of the first prompt";
    EXPECT_NE(after.find(" 40@35/"), std::string::npos) << "a token of the answer";
  }
}

TEST(OneSequence, IsGivenUpOnADeviceThatIsLostAgainAndAgainAndTheNextOneIsNot) {
  FakeProgram program;
  OneSequence one(program);
  program.losses = 3;
  EXPECT_NE(one.generate({5}, 3).error.find("lost 3 times in a row"), std::string::npos);
  EXPECT_EQ(program.log, "restored restored ");
  program.losses = 2;
  EXPECT_EQ(one.generate({5}, 3).ids, count_up(6, 3));
}

TEST(OneSequence, RefusesWhatIsNoTokenFromTheDevice) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {nan, HUGE_VALF, -HUGE_VALF, -2.0f, 0.5f, 256.0f, 3e9f}) {
    for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
      for (const bool in_list : {false, true}) {
        if (in_list && sampling.temperature == 0) continue;  // there is none
        FakeProgram program;
        OneSequence one(program);
        (in_list ? program.wrong_listed : program.wrong_token) = wrong;
        const Made made = one.generate({5}, 3, sampling);
        EXPECT_EQ(made.error,
                  fmt::format("The device gives {} as a token after position 0, expected a whole "
                              "number below 256, or -1 for none.",
                              wrong));
      }
    }
  }
}

TEST(OneSequence, EndsWhereLogitsAreNoNumbers) {
  for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
    FakeProgram program;
    OneSequence one(program);
    program.has_no_numbers = true;
    EXPECT_NE(one.generate({5, 6}, 3, sampling).error, "") << "after the prompt";
    program.has_no_numbers = false;
    program.wrong_token = -1.0f;
    if (sampling.temperature == 0) {
      EXPECT_EQ(one.generate({5, 6}, 3, sampling).error,
                "The logits after position 2 have no finite largest value.");
    }
  }
}

TEST(OneSequence, EndsWhereTheContextIsFull) {
  for (const SamplingParams& sampling : {kDrawn, kGreedy}) {
    FakeProgram program;
    OneSequence one(program, 32);
    const Made made = one.generate(count_up(5, 20), 100, sampling);
    EXPECT_EQ(made.finish, FinishReason::kContextFull);
    EXPECT_EQ(made.ids, count_up(25, 13)) << "the last one has no place, but it is known";
    EXPECT_EQ(program.log.find("@32"), std::string::npos);
  }
}

TEST(OneSequence, GivesTheLogitsAfterThePromptToWhoAsks) {
  for (const Ids& prompt : {Ids{6}, Ids{5, 6}}) {
    for (const uint32_t count : {0u, 3u}) {
      FakeProgram program;
      OneSequence one(program);
      std::vector<float> logits;
      Request request{.prompt = prompt};
      request.params.sampling = kGreedy;
      request.params.max_tokens = count;
      request.logits = [&](std::span<const float> own) {
        EXPECT_TRUE(logits.empty()) << "once";
        logits.assign(own.begin(), own.end());
      };
      Ids ids = {0};
      request.done = [&](Result<Generation> done) { ids = done->ids; };
      ASSERT_TRUE(one.scheduler->add(std::move(request)));
      ASSERT_TRUE(one.scheduler->run());
      EXPECT_EQ(ids, count_up(7, count));
      ASSERT_EQ(logits.size(), FakeProgram::kVocab);
      EXPECT_EQ(logits[7], 0);
    }
  }
}

}  // namespace
}  // namespace tokamak
