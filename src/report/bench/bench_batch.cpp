#include "report/bench/bench_batch.h"

#include <algorithm>
#include <cmath>

namespace tokamak {
namespace {

struct BatchRun {
  double seconds = 0, host_seconds = 0;  // the latter: of the steps, without waiting
  uint64_t tokens = 0, steps = 0;
  std::vector<std::vector<uint32_t>> ids;
};

float magnitude(std::span<const float> logits) {
  const auto [least, most] = std::ranges::minmax(logits);
  return std::max(std::abs(least), std::abs(most));
}

/// How probable a session alone finds `ids` after `prompt`.
Result<BatchCheck> check_alone(Engine& engine, std::span<const uint32_t> prompt,
                               std::span<const uint32_t> ids) {
  BatchCheck check;
  TOK_TRY(Session session, engine.start());
  TOK_TRY(std::span<const float> logits, session.feed(prompt));
  for (size_t i = 0; i < ids.size(); ++i) {
    const double own = (std::ranges::max(logits) - logits[ids[i]]) / magnitude(logits);
    if (!(own <= check.deficit)) check.deficit = own;  // what is no number, too
    if (i + 1 == ids.size()) break;
    TOK_TRY(logits, session.feed(ids.subspan(i, 1)));
  }
  if (check.is_right()) return check;
  const std::vector<float> alone(logits.begin(), logits.end());
  std::vector<uint32_t> all(prompt.begin(), prompt.end());
  all.insert(all.end(), ids.begin(), ids.end() - 1);
  TOK_TRY(Session at_once, engine.start());
  TOK_TRY(const std::span<const float> others, at_once.feed(all));
  for (size_t i = 0; i < alone.size(); ++i) {
    check.apart = std::max(check.apart, double(std::abs(alone[i] - others[i])));
  }
  check.apart /= magnitude(alone);
  return check;
}

Result<BatchRun> run_once(Engine& engine, std::span<const uint32_t> ids,
                          const BenchOptions& options, const Clock& clock, const BenchTest& test) {
  BatchRun run;
  run.ids.resize(test.sequences);
  TOK_TRY(Scheduler * scheduler, engine.scheduler());
  std::vector<uint32_t> taken(test.sequences);
  uint32_t begun = 0, ended = 0;
  uint64_t all = 0;
  std::optional<Error> error;
  for (uint32_t i = 0; i < test.sequences; ++i) {
    Request request;
    request.prompt = bench_prompt(ids, test.depth, i);
    request.params.sampling.temperature = 0;
    request.params.max_tokens = test.generate + 1;
    request.callbacks.token = [&, i](uint32_t, const Logprobs*) {
      begun += taken[i]++ == 0 ? 1 : 0;
      ++all;
    };
    request.callbacks.cancelled = options.cancelled;
    request.done = [&, i](Result<Generation> done) {
      ++ended;
      if (done) {
        run.ids[i] = std::move(done->ids);
      } else {
        error = std::move(done).error();
      }
    };
    TOK_TRY(scheduler->add(std::move(request)));
  }
  // Timed while all of them generate, or, where the first ends before the last begins, to the end.
  std::optional<double> start;
  uint64_t before = 0, steps_before = 0;
  bool is_over = false, all_generate = false;
  for (bool continues = true; continues;) {
    if (begun == test.sequences && !start) {
      all_generate = ended == 0;
      start = clock();
      before = all;
      steps_before = scheduler->stats().steps;
    }
    const bool is_timed = start && !is_over;
    const double entered = clock();
    TOK_TRY(continues, scheduler->step());
    if (is_timed) {
      run.host_seconds += clock() - entered;
      run.seconds = clock() - *start;
      run.tokens = all - before;
      run.steps = scheduler->stats().steps - steps_before;
      is_over = all_generate && ended > 0;
    }
    if (continues) TOK_TRY(scheduler->wait());
  }
  if (error) return Failure(*error);
  if (options.cancelled && options.cancelled()) {
    return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
  }
  return run;
}

}  // namespace

std::vector<uint32_t> bench_prompt(std::span<const uint32_t> ids, uint32_t tokens,
                                   uint32_t number) {
  std::vector<uint32_t> prompt;
  for (uint32_t n = 0; n < std::max(tokens, 1u); ++n) {
    prompt.push_back(ids[(n + 37 * number) % ids.size()]);
  }
  return prompt;
}

Result<void> time_sequences(Engine& engine, std::span<const uint32_t> ids,
                            const BenchOptions& options, const Clock& clock, BenchTest& test,
                            BatchCheck& check) {
  std::vector<std::vector<uint32_t>> generated;
  for (uint32_t i = 0; i <= options.repetitions; ++i) {
    if (options.progress) {
      options.progress(i == 0 ? test.name() + ": warming up"
                              : fmt::format("{}: {} of {}", test.name(), i, options.repetitions));
    }
    TOK_TRY(const BatchRun run, run_once(engine, ids, options, clock, test));
    generated = run.ids;
    if (i == 0) continue;
    test.seconds.push_back(run.seconds * test.tokens() / double(std::max<uint64_t>(run.tokens, 1)));
    test.host_step_seconds = run.host_seconds / double(std::max<uint64_t>(run.steps, 1));
  }
  for (const uint32_t sequence : {0u, test.sequences - 1}) {
    TOK_TRY(const BatchCheck own,
            check_alone(engine, bench_prompt(ids, test.depth, sequence), generated[sequence]));
    if (check.is_right() && (!own.is_right() || !(own.deficit <= check.deficit))) check = own;
  }
  return {};
}

}  // namespace tokamak
