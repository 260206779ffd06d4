#include "report/bench_batch.h"

#include <algorithm>

namespace tokamak {
namespace {

struct BatchRun {
  double seconds = 0, host_seconds = 0;  // the latter: of the steps, without waiting
  uint64_t tokens = 0, steps = 0;
  std::vector<std::vector<uint32_t>> ids;
};

Result<BatchRun> run_once(Engine& engine, std::span<const uint32_t> ids,
                          const BenchOptions& options, const Clock& clock, const BenchTest& test) {
  BatchRun run;
  run.ids.resize(test.sequences);
  TOK_TRY(Scheduler* scheduler, engine.scheduler());
  std::vector<uint32_t> taken(test.sequences);
  uint32_t begun = 0;
  uint64_t all = 0;
  std::optional<Error> error;
  for (uint32_t i = 0; i < test.sequences; ++i) {
    Request request;
    for (uint32_t n = 0; n < std::max(test.depth, 1u); ++n) {
      request.prompt.push_back(ids[(n + 37 * i) % ids.size()]);
    }
    request.params.sampling.temperature = 0;
    request.params.max_tokens = test.generate + 1;
    request.callbacks.token = [&, i](uint32_t, const Logprobs*) {
      begun += taken[i]++ == 0 ? 1 : 0;
      ++all;
    };
    request.callbacks.cancelled = options.cancelled;
    request.done = [&, i](Result<Generation> done) {
      if (done) {
        run.ids[i] = std::move(done->ids);
      } else {
        error = std::move(done).error();
      }
    };
    TOK_TRY(scheduler->add(std::move(request)));
  }
  double start = 0;
  uint64_t before = 0, steps_before = 0;
  for (bool goes_on = true; goes_on;) {
    const bool is_timed = begun == test.sequences;
    if (is_timed && start == 0) {
      start = clock();
      before = all;
      steps_before = scheduler->stats().steps;
    }
    const double entered = clock();
    TOK_TRY(goes_on, scheduler->step());
    if (is_timed) run.host_seconds += clock() - entered;
    if (goes_on) TOK_TRY(scheduler->wait());
  }
  if (error) return Failure(*error);
  if (options.cancelled && options.cancelled()) {
    return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
  }
  run.seconds = clock() - start;
  run.tokens = all - before;
  run.steps = scheduler->stats().steps - steps_before;
  return run;
}

}  // namespace

Result<void> time_sequences(Engine& engine, std::span<const uint32_t> ids,
                            const BenchOptions& options, const Clock& clock, BenchTest& test,
                            bool& repeats) {
  std::vector<std::vector<uint32_t>> first;
  for (uint32_t i = 0; i <= options.repetitions; ++i) {
    if (options.progress) {
      options.progress(i == 0 ? test.name() + ": warming up"
                              : fmt::format("{}: {} of {}", test.name(), i, options.repetitions));
    }
    TOK_TRY(const BatchRun run, run_once(engine, ids, options, clock, test));
    if (i == 0) first = run.ids;
    repeats = repeats && run.ids == first;
    if (i == 0) continue;
    test.seconds.push_back(run.seconds * test.tokens() / double(std::max<uint64_t>(run.tokens, 1)));
    test.host_step_seconds = run.host_seconds / double(std::max<uint64_t>(run.steps, 1));
  }
  return {};
}

}  // namespace tokamak
