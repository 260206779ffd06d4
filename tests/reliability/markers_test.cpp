// Sixty-four requests at once never see each other: each has tokens of its own in its prompt, and
// whatever happens to it (shared beginnings, pages that are evicted or taken away, a lost device)
// its stream holds what it holds alone, at every token.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "reliability/fragile_engine.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kRequests = 96, kSequences = 64, kContext = 80, kShared = 32, kMarkers = 8;

struct Markers : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  void SetUp() override { require_device(setup); }
};

/// The beginning that all prompts have, tokens that only this one has, and an end that all have:
/// with the same seed, the markers alone make the streams different.
Request request_of(uint32_t number, uint32_t vocab, bool is_greedy) {
  std::mt19937 random(number);
  Request request;
  for (uint32_t i = 0; i < kShared; ++i) request.prompt.push_back((7 * i + 3) % vocab);
  for (uint32_t i = 0; i < kMarkers; ++i) request.prompt.push_back(uint32_t(random() % vocab));
  for (uint32_t i = 0; i < 4; ++i) request.prompt.push_back(11 + i);
  request.params.sampling.temperature = is_greedy || number % 3 == 0 ? 0 : 1.1;
  request.params.sampling.seed = 5;
  request.params.max_tokens = 10 + number % 8;
  request.tenant = number % 2 == 0 ? "even" : "odd";
  return request;
}

/// The tokens that each gives alone.
std::vector<std::vector<uint32_t>> run_alone(Engine& engine, bool is_greedy) {
  std::vector<std::vector<uint32_t>> all(kRequests);
  Scheduler* scheduler = *engine.scheduler();
  for (uint32_t i = 0; i < kRequests; ++i) {
    Request request = request_of(i, engine.compiled().facts.vocab, is_greedy);
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      all[i] = done->ids;
    };
    EXPECT_TRUE(scheduler->add(std::move(request)));
    EXPECT_TRUE(scheduler->run());
  }
  return all;
}

/// Whether a session alone finds every token of a greedy stream as probable as any other, to within
/// what other kernels for other numbers of rows may round differently.
bool is_its_own(Engine& engine, uint32_t number, std::span<const uint32_t> ids, double tolerance) {
  auto session = engine.start();
  EXPECT_TRUE(session) << session.error().message;
  auto logits = session->feed(request_of(number, engine.compiled().facts.vocab, true).prompt);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(logits) << logits.error().message;
    const auto [least, most] = std::ranges::minmax(*logits);
    const double allowed = 2 * tolerance * std::max(std::abs(least), std::abs(most));
    if (!((*logits)[ids[i]] >= most - allowed)) return false;
    if (i + 1 < ids.size()) logits = session->feed(ids.subspan(i, 1));
  }
  return true;
}

TEST_P(Markers, OfOneRequestAreSeenByNoOther) {
  const bool is_exact = setup.options.backend == "cpu-reference";
  OpenOptions options = setup.options;
  options.context = kContext;
  options.chunk = 32;
  Fault none, fault;
  const auto single = open_fragile("llama_tied_rope3", none, options);
  options.sequences = kSequences;
  options.cache_tokens = kSequences * 32;  // too few for all to end: each needs up to 64
  const auto engine = open_fragile("llama_tied_rope3", fault, options);
  ASSERT_TRUE(single != nullptr && engine != nullptr);
  const std::vector<std::vector<uint32_t>> alone = run_alone(*single, !is_exact);
  const std::set<std::vector<uint32_t>> different(alone.begin(), alone.end());
  EXPECT_EQ(different.size(), kRequests) << "a stream of another one would not be noticed";

  fault.count_from_here();
  fault.after_steps = 20;
  Scheduler* scheduler = *engine->scheduler();
  std::vector<std::vector<uint32_t>> together(kRequests);
  uint32_t finished = 0, most_running = 0;
  for (uint32_t i = 0; i < kRequests; ++i) {
    Request request = request_of(i, engine->compiled().facts.vocab, !is_exact);
    request.callbacks.token = [&, i](uint32_t id, const Logprobs*) {
      const size_t place = together[i].size();
      together[i].push_back(id);
      if (!is_exact) return;
      ASSERT_LT(place, alone[i].size()) << "request " << i;
      ASSERT_EQ(id, alone[i][place]) << "request " << i << ", token " << place;
    };
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      ++finished;
    };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  }
  for (uint32_t steps = 0; finished < kRequests; ++steps) {
    ASSERT_LT(steps, 5000u);
    ASSERT_TRUE(scheduler->step());
    ASSERT_TRUE(scheduler->wait());
    most_running = std::max(most_running, scheduler->stats().running);
  }
  for (uint32_t i = 0; i < kRequests; ++i) {
    if (together[i] == alone[i]) continue;
    EXPECT_FALSE(is_exact) << "request " << i;
    EXPECT_EQ(together[i].size(), alone[i].size()) << "request " << i;
    EXPECT_TRUE(is_its_own(*single, i, together[i], setup.tolerance)) << "request " << i;
  }
  const SchedulerStats stats = scheduler->stats();
  EXPECT_EQ(fault.losses, 1u);
  EXPECT_EQ(stats.device_losses, 1u);
  EXPECT_GT(stats.preemptions, 0u);
  EXPECT_GT(stats.cached_tokens, 0u);
  EXPECT_GT(most_running, kSequences / 2);
  EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
}

INSTANTIATE_TEST_SUITE_P(Devices, Markers,
                         testing::Values(setup_named("cpu"), setup_named("cpu_fast"),
                                         setup_named("webgpu_f32")),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
