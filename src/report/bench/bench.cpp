#include "report/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "graph/kv_cache.h"
#include "report/bench/bench_arrival.h"
#include "report/bench/bench_batch.h"
#include "report/inspect/inspect_views.h"

namespace tokamak {
namespace {

constexpr uint32_t kCheckPrompt = 8, kCheckSteps = 8;
/// The options of the sampled test; with a list, top_k makes it enough for any model.
constexpr SamplingParams kSampled = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 1};

std::span<const float> last_row(std::span<const float> rows, size_t vocab) {
  return rows.subspan(rows.size() - vocab);
}

class Bench {
 public:
  Bench(Engine& engine, const BenchOptions& options, std::span<const BenchTest> tests,
        const Clock& clock)
      : engine_(engine),
        options_(options),
        clock_(clock),
        vocab_(engine.compiled().facts.vocab),
        ids_(random_ids(size_t(largest(tests).positions()) + 1, vocab_)) {}

  Result<void> run(BenchTest test, BenchReport& report) {
    if (test.sequences > 1) {
      TOK_TRY(time_sequences(engine_, ids_, options_, clock_, test, batches_));
      if (test.arriving > 0) {
        if (options_.progress) options_.progress(test.name() + ": a prompt arrives");
        TOK_TRY(test.arrival, time_arrival(engine_, ids_, options_, clock_, test));
      }
      count_batches(test);
    } else if (test.generate == 0) {
      TOK_TRY(prefill(test, report));
    } else if (test.choice == BenchTest::Choice::kSampledFromAllLogits) {
      TOK_TRY(decode_from_all_logits(test));
    } else {
      TOK_TRY(decode(test));
    }
    report.tests.push_back(std::move(test));
    return {};
  }

  /// Whether sequences that ran at once gave tokens that are right.
  const BatchCheck& batches() const { return batches_; }

 private:
  Result<Session> session_at(uint32_t depth) {
    TOK_TRY(Session session, engine_.start());
    if (depth > 0) TOK_TRY(session.feed(std::span(ids_).first(depth), options_.cancelled));
    return session;
  }

  std::span<const uint32_t> prompt_of(const BenchTest& test) const {
    return std::span(ids_).subspan(test.depth, test.prompt);
  }

  bool is_cancelled() const { return options_.cancelled && options_.cancelled(); }
  static Failure cancelled() {
    return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
  }

  /// `once(start)` does what is measured and gives when it was begun and done.
  Result<void> measure(BenchTest& test, auto&& once) {
    for (uint32_t i = 0; i <= options_.repetitions; ++i) {
      if (options_.progress) {
        options_.progress(i == 0
                              ? test.name() + ": warming up"
                              : fmt::format("{}: {} of {}", test.name(), i, options_.repetitions));
      }
      double start = 0;
      TOK_TRY(const double end, once(start));
      if (i > 0) test.seconds.push_back(end - start);
    }
    return {};
  }

  Result<void> prefill(BenchTest& test, BenchReport& report) {
    std::vector<double> until_token;
    const auto once = [&](double& start) -> Result<double> {
      TOK_TRY(Session session, session_at(test.depth));
      start = clock_();
      TOK_TRY(const std::span<const float> rows, session.feed(prompt_of(test), options_.cancelled));
      const double fed = clock_();
      TOK_TRY(greedy_token(last_row(rows, vocab_)));
      until_token.push_back(clock_() - start);
      return fed;
    };
    TOK_TRY(measure(test, once));
    until_token.erase(until_token.begin());  // the one to warm up
    if (!report.first_token) report.first_token = timing_of(std::move(until_token));
    count_prefill(test);
    return {};
  }

  /// From a prompt on, or where there is none from the first token, which comes with what is
  /// before it.
  Result<void> decode(BenchTest& test) {
    const bool is_greedy = test.choice == BenchTest::Choice::kGreedy;
    SamplingParams sampling = {.temperature = 0};
    if (!is_greedy) sampling = kSampled;
    if (!is_greedy) sampling.repetition_penalty = options_.repetition_penalty;
    const auto once = [&](double& start) -> Result<double> {
      const std::string tenant = fmt::format("{} {}", test.name(), runs_++);
      Request before = request_of(tenant, std::max(test.depth, 1u));
      if (test.prompt > 0) {
        if (test.depth > 0) TOK_TRY(engine_.generate(before));
        before = request_of(tenant, test.depth + test.prompt);
        start = clock_();
      } else {
        before.callbacks.token = [&, first = true](uint32_t, const Logprobs*) mutable {
          if (std::exchange(first, false)) start = clock_();
        };
      }
      before.params.sampling = sampling;
      before.params.max_tokens = test.generate + 1;
      TOK_TRY(const Generation done, engine_.generate(std::move(before)));
      if (done.finish == FinishReason::kCancelled) return cancelled();
      return clock_();
    };
    TOK_TRY(measure(test, once));
    count_prefill(test);
    count_steps(test, is_greedy ? PhaseKind::kGreedy : PhaseKind::kSampled);
    return {};
  }

  /// It has a tenant of its own, so that no run finds what another one has left.
  Request request_of(const std::string& tenant, uint32_t tokens) const {
    Request request{.prompt = {ids_.begin(), ids_.begin() + ptrdiff_t(tokens)}, .tenant = tenant};
    request.params.max_tokens = 0;
    request.params.end_ids.emplace();
    request.callbacks.cancelled = options_.cancelled;
    return request;
  }

  Result<void> decode_from_all_logits(BenchTest& test) {
    const auto once = [&](double& start) -> Result<double> {
      TOK_TRY(Sampler sampler, Sampler::make(kSampled));
      TOK_TRY(Session session, session_at(test.depth));
      start = clock_();
      std::vector<uint32_t> ids = {ids_.back()};
      for (uint32_t step = 0; step < test.generate; ++step) {
        if (is_cancelled()) return cancelled();
        TOK_TRY(const std::span<const float> rows, session.feed(std::span(ids).last(1)));
        TOK_TRY(const uint32_t id, sampler.next(last_row(rows, vocab_), ids, step));
        ids.push_back(id);
      }
      return clock_();
    };
    TOK_TRY(measure(test, once));
    count_steps(test, PhaseKind::kDecode);
    return {};
  }

  /// Steps of one token, by the phase of that kind and those that take its place.
  void count_steps(BenchTest& test, PhaseKind kind) {
    const Plan& plan = engine_.compiled().main.plan;
    const size_t first = plan.phase_for(1, kind);
    for (uint32_t step = 0; step < test.generate; ++step) {
      const uint32_t position = test.depth + test.prompt + step;
      const Phase& phase = plan.phases[plan.phase_at(first, position)];
      add(test, phase_cost(plan, phase, 1, uint64_t{position} + 1), phase.steps.size());
    }
  }

  /// Steps of a token of each sequence; every one of them reads its own keys and values.
  void count_batches(BenchTest& test) {
    const Plan& plan = engine_.compiled().main.plan;
    const uint32_t rows = test.sequences;
    const Phase& phase = plan.phases[plan.phase_for(rows, PhaseKind::kGreedy)];
    for (uint32_t step = 0; step < test.generate; ++step) {
      const uint64_t positions = uint64_t{test.depth} + step + 1;
      add(test, phase_cost(plan, phase, rows, positions, rows), phase.steps.size());
    }
  }

  /// The chunks of a prompt.
  void count_prefill(BenchTest& test) {
    const Plan& plan = engine_.compiled().main.plan;
    const uint32_t chunk = plan.chunk();
    for (uint32_t at = 0; at < test.prompt; at += chunk) {
      const uint32_t tokens = std::min(chunk, test.prompt - at);
      const Phase& phase = plan.phases[plan.phase_for(tokens)];
      add(test, phase_cost(plan, phase, tokens, uint64_t{test.depth} + at + tokens),
          phase.steps.size());
    }
  }

  static void add(BenchTest& test, const Cost& cost, size_t launches) {
    test.bytes_per_token += double(cost.bytes) / test.tokens();
    test.flops_per_token += double(cost.flops) / test.tokens();
    test.launches_per_token += double(launches) / test.tokens();
    test.link_bytes_per_token += double(cost.link_bytes) / test.tokens();
  }

  Engine& engine_;
  const BenchOptions& options_;
  const Clock& clock_;
  const uint32_t vocab_;
  const std::vector<uint32_t> ids_;
  uint32_t runs_ = 0;
  BatchCheck batches_;
};

}  // namespace

std::vector<uint32_t> random_ids(size_t count, uint32_t below, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> ids(count);
  for (uint32_t& id : ids) id = uint32_t(random()) % below;
  return ids;
}

Timing timing_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    const double place = share * double(seconds.size() - 1);
    const size_t low = size_t(place), high = std::min(low + 1, seconds.size() - 1);
    return seconds[low] + (place - double(low)) * (seconds[high] - seconds[low]);
  };
  const double median = at(0.5);
  return {median, median > 0 ? (at(0.75) - at(0.25)) / median : 0};
}

MeanAndDeviation mean_of(std::span<const double> samples) {
  const double count = double(samples.size());
  MeanAndDeviation found;
  for (const double sample : samples) found.mean += sample;
  found.mean /= count;
  if (samples.size() == 1) return found;
  double squares = 0;
  for (const double sample : samples) squares += std::pow(sample - found.mean, 2);
  found.deviation = std::sqrt(squares / (count - 1));
  return found;
}

std::string BenchTest::name() const {
  constexpr std::string_view kChoices[] = {"", " sampled", " sampled from all logits"};
  std::vector<std::string> parts;
  if (prompt > 0) parts.push_back(fmt::format("pp{}", prompt));
  if (generate > 0) parts.push_back(fmt::format("tg{}", generate));
  std::string out = fmt::format("{}", fmt::join(parts, "+"));
  if (depth > 0) out += fmt::format(" @ d{}", depth);
  if (sequences > 1) out += fmt::format(" x {}", sequences);
  return out += kChoices[size_t(choice)];
}

std::vector<double> WorkTest::speeds() const {
  std::vector<double> out;
  for (const double one : seconds) out.push_back(amount / one);
  return out;
}

std::vector<double> BenchTest::speeds() const {
  std::vector<double> out;
  for (const double one : seconds) out.push_back(tokens() / one);
  return out;
}

std::vector<BenchTest> tests_of(const BenchOptions& options) {
  using Choice = BenchTest::Choice;
  std::vector<BenchTest> tests;
  const auto add = [&](uint32_t prompt, uint32_t generate, uint32_t depth, Choice choice,
                       uint32_t sequences = 1) {
    if (prompt == 0 && generate == 0) return;
    tests.push_back({.prompt = prompt,
                     .generate = generate,
                     .depth = depth,
                     .sequences = sequences,
                     .choice = choice,
                     .arriving = sequences > 1 ? options.arriving : 0});
  };
  for (const uint32_t depth : options.depths) {
    for (const uint32_t prompt : options.prompts) add(prompt, 0, depth, Choice::kGreedy);
    for (const uint32_t generate : options.generate) {
      for (const uint32_t sequences : options.sequences) {
        add(0, generate, depth, Choice::kGreedy, sequences);
      }
      if (!options.sampled) continue;
      add(0, generate, depth, Choice::kSampled);
      add(0, generate, depth, Choice::kSampledFromAllLogits);
    }
    for (const auto& [prompt, generate] : options.prompts_and_generate) {
      add(prompt, generate, depth, Choice::kGreedy);
    }
  }
  return tests;
}

const BenchTest& largest(std::span<const BenchTest> tests) {
  return *std::ranges::max_element(tests, {}, &BenchTest::positions);
}

Result<std::vector<float>> short_run(Engine& engine, std::vector<uint32_t>& ids) {
  const size_t vocab = engine.compiled().facts.vocab;
  const bool choose = ids.empty();
  TOK_TRY(Session session, engine.start());
  const uint32_t room = session.context();
  const std::vector<uint32_t> prompt =
      random_ids(std::min(kCheckPrompt, std::max(room / 2, 1u)), uint32_t(vocab));
  std::vector<float> all;
  TOK_TRY(std::span<const float> rows, session.feed(prompt));
  for (uint32_t step = 0;; ++step) {
    const std::span<const float> row = last_row(rows, vocab);
    all.insert(all.end(), row.begin(), row.end());
    if (step == kCheckSteps || session.position() == room) return all;
    TOK_TRY(const uint32_t best, greedy_token(row));
    if (choose) ids.push_back(best);
    TOK_TRY(rows, session.feed(std::span(ids).subspan(step, 1)));
  }
}

double relative_error(std::span<const float> a, std::span<const float> b) {
  double difference = 0, largest = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    largest = std::max(largest, std::abs(double(b[i])));
    const double here = std::abs(double(a[i]) - double(b[i]));
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
  }
  return largest > 0 ? difference / largest : difference;
}

BenchReport described(const Engine& engine) {
  const Engine::Compiled& compiled = engine.compiled();
  BenchReport report;
  report.model = engine.files().name;
  report.architecture = compiled.facts.architecture;
  report.device = engine.device();
  report.memory = footprint(compiled.main.plan);
  report.load = engine.load_times();
  report.compiled = engine.compile_report();
  const auto used = inspection::weight_uses(engine.files(), {compiled.main.fused().values}).used;
  report.parameters = used.parameters;
  report.weight_bytes = used.bytes;
  report.quantization = quantization_name(engine.files(), compiled);
  for (const Buffer& buffer : compiled.main.plan.buffers) {
    if (is_kv_cache(buffer)) report.kv = cache_type_name(buffer.tensor.dtype);
  }
  return report;
}

Result<BenchReport> bench_engine(Engine& engine, const BenchOptions& options, const Clock& clock) {
  const Engine::Compiled& compiled = engine.compiled();
  const std::vector<BenchTest> tests = tests_of(options);
  if (tests.empty()) return fail(ErrorCode::kUsage, "-p 0 and -n 0 leave nothing to measure.");
  if (const BenchTest& most = largest(tests); most.positions() > compiled.context) {
    return fail(ErrorCode::kUsage, "{} needs {} positions, but the context has {} (see --context).",
                most.name(), most.positions(), compiled.context);
  }
  BenchReport report = described(engine);
  Bench bench(engine, options, tests, clock);
  for (const BenchTest& test : tests) TOK_TRY(bench.run(test, report));
  report.device_peak_bytes = engine.backend().device_bytes();

  std::vector<uint32_t> first, second;
  TOK_TRY(const std::vector<float> once, short_run(engine, first));
  TOK_TRY(const std::vector<float> repeated, short_run(engine, second));
  report.greedy_repeats = first == second && once.size() == repeated.size();
  report.batches = bench.batches();
  report.logits_finite =
      std::all_of(once.begin(), once.end(), [](float value) { return std::isfinite(value); });
  return report;
}

}  // namespace tokamak
