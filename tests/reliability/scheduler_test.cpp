// Many requests at once, whatever happens: arrivals, cancels, shared beginnings, too few pages, a
// device that is lost in between. Every one gets its own tokens, and everything is given back.
#include <map>
#include <random>

#include "base/environment.h"
#include "reliability/fragile_engine.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kContext = 80, kSequences = 4;

std::unique_ptr<Engine> open_small(const std::string& model, Fault& fault,
                                   uint32_t cache_tokens = 0, Clock clock = steady_clock()) {
  OpenOptions options;
  options.backend = "cpu-reference";
  options.context = kContext;
  options.chunk = 16;
  options.sequences = kSequences;
  options.cache_tokens = cache_tokens;
  return open_fragile(model, fault, options, std::move(clock));
}

/// A clock that goes on by as much whenever it is read.
Clock clock_of(double seconds) {
  return [seconds, now = std::make_shared<double>(0)] { return *now += seconds; };
}

/// Request `number` of some that exist: the same every time. Its prompt begins like that of others
/// and goes on with ids that only it has.
Request request_of(uint32_t number, uint32_t vocab) {
  std::mt19937 random(number);
  Request request;
  for (uint32_t i = 0; i < 16 * (number % 3) + 3; ++i) request.prompt.push_back(i % vocab);
  for (uint32_t i = 0; i < 1 + random() % 20; ++i) {
    request.prompt.push_back(uint32_t((number * 31 + random() % 7) % vocab));
  }
  request.params.sampling.temperature = number % 2 == 0 ? 0 : 1.1;
  request.params.sampling.top_k = number % 4 == 1 ? 12 : 0;
  request.params.sampling.seed = number;
  request.params.max_tokens = 1 + number % 11;
  request.tenant = number % 5 == 0 ? "other" : "";
  request.group = number % 4;
  return request;
}

TEST(HeldRequest, DoesNotShortenTheStepsOverPrompts) {
  OpenOptions options;
  options.backend = "cpu-reference";
  options.context = kContext;
  options.chunk = 64;
  options.sequences = 2;
  Fault none;
  const auto engine = open_fragile("llama_tied_rope3", none, options);
  ASSERT_NE(engine, nullptr);
  Scheduler* scheduler = *engine->scheduler();
  Request held;
  held.prompt = {1, 2, 3};
  held.params.max_tokens = 40;
  uint32_t generated = 0;
  held.callbacks.token = [&](uint32_t, const Logprobs*) { ++generated; };
  const auto id = scheduler->add(std::move(held));
  ASSERT_TRUE(id) << id.error().message;
  while (generated == 0) {
    ASSERT_TRUE(scheduler->step());
    ASSERT_TRUE(scheduler->wait());
  }
  scheduler->hold(*id, true);
  uint32_t largest = 0;
  SchedulerObserver observer;
  observer.steps = [&](const StepsRun& run) {
    if (run.is_prefill) largest = std::max(largest, run.tokens);
  };
  scheduler->observe(std::move(observer));
  Request other;
  other.prompt.assign(60, 7);
  other.params.max_tokens = 1;
  ASSERT_TRUE(scheduler->add(std::move(other)));
  ASSERT_TRUE(scheduler->run());
  EXPECT_EQ(largest, 60u) << "nobody waits for a next token";
  scheduler->cancel_all();
  ASSERT_TRUE(scheduler->run());
}

TEST(CallOfManyChoices, AdmitsTheNextCall) {
  Fault none;
  const auto engine = open_small("llama_tied_rope3", none);
  ASSERT_NE(engine, nullptr);
  Scheduler* scheduler = *engine->scheduler();
  std::vector<uint64_t> ended;  // groups, in the order of their ends
  const auto add = [&](uint64_t group) {
    Request request;
    request.prompt = {1, 2, 3};
    request.params.max_tokens = 4;
    request.group = group;
    request.done = [&ended, group](Result<Generation>) { ended.push_back(group); };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  };
  for (uint32_t i = 0; i < 5 * kSequences; ++i) add(1);
  ASSERT_TRUE(scheduler->step());
  EXPECT_EQ(scheduler->stats().running, kSequences) << "nobody else was there";
  add(2);
  ASSERT_TRUE(scheduler->run());
  ASSERT_EQ(ended.size(), 5 * kSequences + 1);
  EXPECT_LT(std::ranges::find(ended, 2u) - ended.begin(), 2 * kSequences);
}

TEST(ClientOfManyTenants, AdmitsTheNextClient) {
  Fault none;
  const auto engine = open_small("llama_tied_rope3", none);
  ASSERT_NE(engine, nullptr);
  Scheduler* scheduler = *engine->scheduler();
  std::string ended;  // clients, in the order of their ends
  uint32_t tenants = 0;
  const auto add = [&](const std::string& client) {
    Request request;
    request.prompt = {1, 2, 3};
    request.params.max_tokens = 4;
    request.tenant = fmt::format("salt {}", tenants++);
    request.client = client;
    request.done = [&ended, client](Result<Generation>) { ended += client; };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  };
  for (uint32_t i = 0; i < 5 * kSequences; ++i) add("a");
  ASSERT_TRUE(scheduler->step());
  add("b");
  ASSERT_TRUE(scheduler->run());
  ASSERT_EQ(ended.size(), 5 * kSequences + 1);
  EXPECT_LT(ended.find('b'), 2 * kSequences) << ended;
}

struct Schedules : testing::TestWithParam<std::string> {};

TEST_P(Schedules, GiveEveryRequestItsOwnTokens) {
  constexpr uint32_t kNumbers = 24;
  // TOKAMAK_SCHEDULES=1000 takes a minute and a half for the smallest model.
  const std::string asked = environment_variable("TOKAMAK_SCHEDULES");
  const uint32_t rounds = asked.empty() ? 24 : uint32_t(std::stoul(asked));
  Fault fault;
  const auto roomy = open_small(GetParam(), fault);
  const auto tight = open_small(GetParam(), fault, kContext + 16);
  ASSERT_TRUE(roomy != nullptr && tight != nullptr);
  const uint32_t vocab = roomy->compiled().facts.vocab;
  std::vector<std::vector<uint32_t>> alone(kNumbers);
  for (uint32_t i = 0; i < kNumbers; ++i) {
    Scheduler* scheduler = *roomy->scheduler();
    Request request = request_of(i, vocab);
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      alone[i] = done->ids;
    };
    ASSERT_TRUE(scheduler->add(std::move(request)));
    ASSERT_TRUE(scheduler->run());
    ASSERT_FALSE(alone[i].empty());
  }
  std::mt19937 random(1);
  uint64_t cancelled = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    Scheduler* scheduler = *(round % 2 == 0 ? roomy : tight)->scheduler();
    std::map<RequestId, uint32_t> running;
    uint32_t added = 0, finished = 0, steps = 0;
    fault.count_from_here();
    fault.delays_results = round % 4 != 0;
    fault.after_steps = round % 3 == 2 ? 5 + uint32_t(random() % 20) : UINT32_MAX;
    // Not for ever: computing four sequences again takes more steps than that.
    fault.times = fault.losses + 3;
    for (bool continues = true; continues || added < 10;) {
      if (added < 10 && random() % 3 != 0) {
        const auto number = uint32_t(random() % kNumbers);
        Request request = request_of(number, vocab);
        request.priority = int(random() % 2);
        request.done = [&, number](Result<Generation> done) {
          ++finished;
          ASSERT_TRUE(done) << done.error().message;
          const bool was_cancelled = done->finish == FinishReason::kCancelled;
          cancelled += was_cancelled ? 1 : 0;
          // The tokens of a cancelled one are the beginning of what it would have had.
          ASSERT_LE(done->ids.size(), alone[number].size());
          EXPECT_TRUE(
              std::ranges::equal(done->ids, std::span(alone[number]).first(done->ids.size())));
          EXPECT_TRUE(was_cancelled || done->ids.size() == alone[number].size()) << number;
        };
        const auto id = scheduler->add(std::move(request));
        ASSERT_TRUE(id) << id.error().message;
        running[*id] = number;
        ++added;
      }
      if (random() % 25 == 0 && !running.empty()) scheduler->cancel(running.begin()->first);
      const auto stepped = scheduler->step();
      ASSERT_TRUE(stepped) << stepped.error().message;
      ASSERT_LT(++steps, 5000u) << "they take each other's pages for ever";
      continues = *stepped;
      if (random() % 2 == 0) {
        ASSERT_TRUE(scheduler->wait());
      }
    }
    EXPECT_EQ(finished, added);
    const SchedulerStats stats = scheduler->stats();
    EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
    EXPECT_EQ(stats.running + stats.waiting, 0u);
  }
  EXPECT_GT(cancelled, 0u);
  EXPECT_GT(fault.losses, 3u);
  EXPECT_GT((*tight->scheduler())->stats().preemptions, 0u);
}

INSTANTIATE_TEST_SUITE_P(Models, Schedules,
                         testing::Values("gemma3_hub", "lfm2", "llama_tied_rope3"),
                         [](const auto& one) { return one.param; });

TEST(Scheduler, EndsWhatIsCancelledOrOverdueAtTheNextStep) {
  Fault fault;
  const auto engine = open_small("llama_tied_rope3", fault);
  Scheduler* scheduler = *engine->scheduler();
  std::vector<FinishReason> ends;
  const auto add = [&](std::optional<double> deadline) {
    Request request = request_of(7, engine->compiled().facts.vocab);
    request.params.max_tokens = 60;
    request.deadline = deadline;
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done);
      ends.push_back(done->finish);
    };
    return *scheduler->add(std::move(request));
  };
  const RequestId unwanted = add(std::nullopt);
  add(steady_clock()() + 1e-9);
  scheduler->cancel(unwanted);
  ASSERT_TRUE(scheduler->step());
  EXPECT_EQ(ends, (std::vector<FinishReason>(2, FinishReason::kCancelled)));
  ASSERT_FALSE(*scheduler->step()) << "nothing is left";
}

TEST_P(Schedules, SharePrefixesOfOneTenantOnly) {
  Fault fault;
  const auto engine = open_small(GetParam(), fault);
  Scheduler* scheduler = *engine->scheduler();
  const uint32_t vocab = engine->compiled().facts.vocab;
  std::map<uint32_t, std::vector<uint32_t>> answers;
  const auto cached = [&](uint32_t number, const char* tenant) {
    Request request = request_of(number, vocab);
    request.tenant = tenant;
    size_t tokens = 0;
    request.done = [&](Result<Generation> done) {
      tokens = done->cached_tokens;
      const auto [first, is_new] = answers.try_emplace(number, done->ids);
      EXPECT_EQ(first->second, done->ids);
    };
    EXPECT_TRUE(scheduler->add(std::move(request)));
    EXPECT_TRUE(scheduler->run());
    return tokens;
  };
  EXPECT_EQ(cached(8, "a"), 0u);
  EXPECT_GE(cached(8, "a"), 32u);
  EXPECT_EQ(cached(8, "b"), 0u);
  // These begin with 35 tokens of the first and go on otherwise. What is no page leaves a
  // checkpoint there when it is seen for the second time.
  cached(11, "a");
  EXPECT_EQ(cached(14, "a"), 32u);
  EXPECT_GE(cached(11, "a"), 32u);
}

TEST(Scheduler, SubmitsStepsTogetherWhereTheyAreQuick) {
  const auto submissions = [](double seconds) {
    Fault fault;
    fault.delays_results = true;
    const auto engine = open_small("llama_tied_rope3", fault, 0, clock_of(seconds));
    Scheduler* scheduler = *engine->scheduler();
    Request request = request_of(0, engine->compiled().facts.vocab);
    request.params.max_tokens = 60;
    size_t tokens = 0;
    request.done = [&](Result<Generation> done) { tokens = done->ids.size(); };
    fault.count_from_here();
    EXPECT_TRUE(scheduler->add(std::move(request)));
    EXPECT_TRUE(scheduler->run());
    EXPECT_EQ(tokens, 60u);
    EXPECT_EQ(scheduler->stats().discarded_tokens, 0u);
    return fault.counted();
  };
  EXPECT_GE(submissions(1), 60u) << "a step that takes seconds is submitted alone";
  EXPECT_LE(submissions(1e-5), 12u);
}

TEST(Scheduler, DecodesWhoCameLaterInTheSameSteps) {
  Fault fault;
  fault.delays_results = true;
  const auto engine = open_small("llama_tied_rope3", fault, 0, clock_of(1e-3));
  Scheduler* scheduler = *engine->scheduler();
  uint32_t finished = 0;
  for (uint32_t i = 0; i < kSequences; ++i) {
    Request request = request_of(0, engine->compiled().facts.vocab);
    request.tenant = fmt::format("{}", i);  // nobody finds another's prefix
    request.params.max_tokens = 40;
    request.done = [&](Result<Generation> done) { finished += done && done->ids.size() == 40; };
    ASSERT_TRUE(scheduler->add(std::move(request)));
    for (uint32_t step = 0; step < 3; ++step) {
      ASSERT_TRUE(scheduler->step());
      ASSERT_TRUE(scheduler->wait());
    }
  }
  ASSERT_TRUE(scheduler->run());
  EXPECT_EQ(finished, kSequences);
  const SchedulerStats stats = scheduler->stats();
  EXPECT_LT(stats.steps, 40u + 20u) << "not 40 for each of the four";
}

TEST(Scheduler, RefusesWhatCannotRun) {
  Fault fault;
  const auto engine = open_small("llama_tied_rope3", fault);
  Scheduler* scheduler = *engine->scheduler();
  const uint32_t vocab = engine->compiled().facts.vocab;
  const auto refusal = [&](std::vector<uint32_t> prompt, double temperature = 1) {
    Request request;
    request.prompt = std::move(prompt);
    request.params.sampling.temperature = temperature;
    const auto added = scheduler->add(std::move(request));
    return added ? "" : added.error().message;
  };
  EXPECT_EQ(refusal({}), "The prompt has no tokens.");
  EXPECT_EQ(refusal(std::vector<uint32_t>(kContext + 1)),
            "The prompt has 81 tokens, but the context has 80 positions.");
  EXPECT_EQ(refusal({1, vocab}),
            fmt::format("Token id {0} is beyond the vocabulary of {0} tokens.", vocab));
  EXPECT_NE(refusal({1}, -1), "");
  OpenOptions options;
  options.backend = "cpu-reference";
  options.sequences = 65;
  options.model = model_folder("llama_tied_rope3");
  const auto opened = Engine::open(options);
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().message.ends_with("sequences is 65, expected 1 to 64."))
      << opened.error().message;
}

TEST(Scheduler, GivesPagesToWhoNeedsThemAndNotToWhoGaveThem) {
  Fault fault;
  const auto engine = open_small("llama_tied_rope3", fault, kContext + 16);
  Scheduler* scheduler = *engine->scheduler();
  uint32_t finished = 0;
  for (const int priority : {1, 0}) {
    Request request;
    // When the first needs a page and there is none, the second's last one is half full: it is the
    // one that comes free, and the one that the second needs again.
    const uint32_t length = priority == 1 ? 33 : 25;
    for (uint32_t i = 0; i < length; ++i) request.prompt.push_back(uint32_t(priority) + i);
    request.params.max_tokens = 40;
    request.priority = priority;
    request.done = [&](Result<Generation> done) { finished += done && done->ids.size() == 40; };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  }
  for (uint32_t steps = 0; finished < 2; ++steps) {
    ASSERT_LT(steps, 1000u);
    ASSERT_TRUE(scheduler->step());
  }
  EXPECT_GT(scheduler->stats().preemptions, 0u);
}

}  // namespace
}  // namespace tokamak::golden
