// Thousands of requests of random sizes give everything back: every page is free, and neither the
// process nor the device holds more than after the first of them.
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/environment.h"
#include "reliability/fragile_engine.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kContext = 48, kSequences = 8;
/// The bytes that the allocator may keep more of at times; a software device, too.
constexpr int64_t kAllowedBytes = int64_t{256} << 10, kAllowedByDevice = int64_t{4} << 20;
/// Results that are on their way at once have staging memory each: how many there ever were depends
/// on the time that each took.
constexpr uint64_t kAllowedStaging = uint64_t{128} << 10;

int64_t held_bytes() {
  malloc_trim(0);
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * int64_t(::sysconf(_SC_PAGESIZE));
}

struct ManyRequests : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  void SetUp() override { require_device(setup); }
};

TEST_P(ManyRequests, GiveEverythingBack) {
  // TOKAMAK_REQUESTS=10000 takes one to three minutes on the CPU.
  const std::string asked = environment_variable("TOKAMAK_REQUESTS");
  const uint32_t by_default = setup.options.backend == "webgpu" ? 150 : 1200;
  const uint32_t count = asked.empty() ? by_default : uint32_t(std::stoul(asked));
  const uint32_t warm = std::min(count / 2, 1000u);
  OpenOptions options = setup.options;
  options.context = kContext;
  options.chunk = 16;
  options.sequences = kSequences;
  options.cache_tokens = 2 * kContext;  // of eight: pages are evicted and taken away
  Fault none;
  const auto engine = open_fragile("llama_tied_rope3", none, options);
  ASSERT_NE(engine, nullptr);
  const uint32_t vocab = engine->compiled().facts.vocab;
  Scheduler* scheduler = *engine->scheduler();
  std::mt19937 random(1);
  uint32_t finished = 0, cancelled = 0;
  int64_t held = 0;
  uint64_t on_device = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i == warm) {
      ASSERT_TRUE(scheduler->run());
      held = held_bytes();
      on_device = engine->backend().device_bytes();
    }
    Request request;
    const uint32_t length = random() % 16 == 0 ? kContext - 4 : uint32_t(1 + random() % 16);
    const auto first = uint32_t(random() % 4);  // so that some begin alike
    for (uint32_t n = 0; n < length; ++n) request.prompt.push_back((first + 5 * n) % vocab);
    request.params.max_tokens = 1 + random() % 4;
    request.params.sampling.temperature = random() % 2 == 0 ? 0 : 0.9;
    request.params.sampling.seed = i;
    request.tenant = random() % 3 == 0 ? "other" : "";
    request.priority = int(random() % 2);
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      ++finished;
      cancelled += done->finish == FinishReason::kCancelled ? 1 : 0;
    };
    const auto id = scheduler->add(std::move(request));
    ASSERT_TRUE(id) << id.error().message;
    if (random() % 50 == 0) scheduler->cancel(*id);
    // The number that runs is that of the sequences; a few wait.
    do {
      ASSERT_TRUE(scheduler->step());
      ASSERT_TRUE(scheduler->wait());
    } while (scheduler->stats().waiting > 2);
  }
  ASSERT_TRUE(scheduler->run());
  EXPECT_EQ(finished, count);
  EXPECT_GT(cancelled, 0u);
  const SchedulerStats stats = scheduler->stats();
  EXPECT_GT(stats.preemptions, 0u);
  EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
  const bool is_cpu = setup.options.backend != "webgpu";
  EXPECT_LE(engine->backend().device_bytes(), on_device + (is_cpu ? 0 : kAllowedStaging));
  const int64_t grown = held_bytes() - held;
  EXPECT_LE(grown, is_cpu ? kAllowedBytes : kAllowedByDevice);
  fmt::print(
      "{} requests, {} steps, {} preemptions: {:.2f} MiB held, {:+.2f} MiB since the first "
      "{}; {:.2f} MiB on the device, {} of {} pages free, {} cached\n",
      count, stats.steps, stats.preemptions, double(held + grown) / (1 << 20),
      double(grown) / (1 << 20), warm, double(on_device) / (1 << 20), stats.free_pages, stats.pages,
      stats.cached_pages);
}

INSTANTIATE_TEST_SUITE_P(Devices, ManyRequests,
                         testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32")),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
