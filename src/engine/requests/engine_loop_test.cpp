// The state of an engine's requests when memory runs out in the middle of its work.
#include "engine/requests/engine_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tokamak {
namespace {

void run_out_of_memory() {
  std::vector<uint64_t> numbers;
  numbers.reserve(numbers.max_size() + 1);
}

TEST(EngineLoop, EndsItsRequestsAndContinuesWhereMemoryRunsOut) {
  auto engine = Engine::open({.model = TOKAMAK_TEST_DATA "/models/llama_untied",
                              .backend = "cpu",
                              .context = 64,
                              .sequences = 2});
  ASSERT_TRUE(engine) << engine.error().message;
  Scheduler* const scheduler = *(*engine)->scheduler();
  EngineLoop loop(*std::move(engine), scheduler, {.has_thread = false});
  std::vector<std::string> ends;
  const auto add = [&](bool runs_out) {
    Request request{.prompt = {1, 2, 3}};
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 4;
    request.params.end_ids.emplace();
    if (runs_out) request.callbacks.token = [](uint32_t, const Logprobs*) { run_out_of_memory(); };
    request.done = [&](Result<Generation> end) {
      ends.push_back(end ? fmt::format("{} tokens", end->ids.size()) : end.error().message);
    };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  };
  const auto run = [&] {
    while (loop.turn(true)) {
    }
  };
  add(true);
  add(false);
  run();
  EXPECT_EQ(ends, (std::vector<std::string>{"Out of memory.", "Out of memory."}));
  ends.clear();
  add(false);
  run();
  EXPECT_EQ(ends, (std::vector<std::string>{"4 tokens"}));
  const SchedulerStats stats = scheduler->stats();
  EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
}

}  // namespace
}  // namespace tokamak
