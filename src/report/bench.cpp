#include "report/bench.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "generate/sampled_decoder.h"

namespace tokamak {
namespace {

constexpr uint32_t kCheckPrompt = 8, kCheckSteps = 8;
/// What the sampled test draws by; with a list, top_k is what makes it enough for any model.
constexpr SamplingParams kSampled = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 1};

std::vector<uint32_t> random_ids(size_t count, uint32_t vocab) {
  std::mt19937 random(1);
  std::vector<uint32_t> ids(count);
  for (uint32_t& id : ids) id = uint32_t(random()) % vocab;
  return ids;
}

std::span<const float> last_row(std::span<const float> rows, size_t vocab) {
  return rows.subspan(rows.size() - vocab);
}

class Bench {
 public:
  Bench(Engine& engine, const BenchOptions& options, const Clock& clock)
      : engine_(engine),
        options_(options),
        clock_(clock),
        vocab_(engine.compiled().facts.vocab),
        ids_(random_ids(size_t{options.depth} + options.prompt + 1, vocab_)) {}

  Result<void> run(BenchReport& report) {
    if (options_.prompt > 0) TOK_TRY(prefill(report));
    if (options_.generate == 0) return {};
    TOK_TRY(decode(report));
    for (const bool by_lists : {true, false}) {
      if (options_.sampled) TOK_TRY(decode_sampled(report, by_lists));
    }
    return {};
  }

 private:
  std::string named(const char* kind, uint32_t tokens) const {
    return options_.depth == 0 ? fmt::format("{}{}", kind, tokens)
                               : fmt::format("{}{} @ d{}", kind, tokens, options_.depth);
  }

  Result<Session> session_at_depth() {
    TOK_TRY(Session session, engine_.start());
    if (options_.depth > 0) {
      TOK_TRY(session.feed(std::span(ids_).first(options_.depth), options_.cancelled));
    }
    return session;
  }

  void tell(const std::string& name, uint32_t repetition) const {
    if (!options_.progress) return;
    options_.progress(repetition == 0
                          ? name + ": warming up"
                          : fmt::format("{}: {} of {}", name, repetition, options_.repetitions));
  }

  Result<void> prefill(BenchReport& report) {
    BenchTest test{.name = named("pp", options_.prompt), .tokens = options_.prompt};
    const std::span<const uint32_t> prompt =
        std::span(ids_).subspan(options_.depth, options_.prompt);
    std::vector<double> seconds, until_token;
    for (uint32_t i = 0; i <= options_.repetitions; ++i) {
      tell(test.name, i);
      TOK_TRY(Session session, session_at_depth());
      const double start = clock_();
      TOK_TRY(const std::span<const float> rows, session.feed(prompt, options_.cancelled));
      const double fed = clock_();
      TOK_TRY(greedy_token(last_row(rows, vocab_)));
      if (i == 0) continue;
      until_token.push_back(clock_() - start);
      seconds.push_back(fed - start);
    }
    test.seconds = timing_of(std::move(seconds));
    report.first_token = timing_of(std::move(until_token));
    count_prefill(test);
    report.tests.push_back(std::move(test));
    return {};
  }

  Result<void> decode(BenchReport& report) {
    BenchTest test{.name = named("tg", options_.generate), .tokens = options_.generate};
    std::vector<double> seconds;
    for (uint32_t i = 0; i <= options_.repetitions; ++i) {
      tell(test.name, i);
      TOK_TRY(Session session, session_at_depth());
      uint32_t id = ids_.back();
      const double start = clock_();
      for (uint32_t step = 0; step < options_.generate;) {
        if (options_.cancelled && options_.cancelled()) {
          return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
        }
        if (const uint32_t room = session.greedy_room(); room > 0) {
          const uint32_t count = std::min(room, options_.generate - step);
          step += count;
          TOK_TRY(session.greedy(id, count, [&](uint32_t chosen) {
            id = chosen;
            return true;
          }));
        } else {
          ++step;
          TOK_TRY(const std::span<const float> rows, session.feed({&id, 1}, options_.cancelled));
          TOK_TRY(id, greedy_token(last_row(rows, vocab_)));
        }
      }
      if (i > 0) seconds.push_back(clock_() - start);
    }
    test.seconds = timing_of(std::move(seconds));
    count_steps(test, "greedy");
    report.tests.push_back(std::move(test));
    return {};
  }

  Result<void> decode_sampled(BenchReport& report, bool by_lists) {
    const std::string name = named("tg", options_.generate);
    BenchTest test{.name = name + (by_lists ? " sampled" : " sampled from all logits"),
                   .tokens = options_.generate};
    std::vector<double> seconds;
    for (uint32_t i = 0; i <= options_.repetitions; ++i) {
      tell(test.name, i);
      TOK_TRY(Session session, session_at_depth());
      SamplingParams sampling = kSampled;
      sampling.repetition_penalty = options_.repetition_penalty;
      TOK_TRY(Sampler sampler, Sampler::make(sampling));
      SampledDecoder decoding(session, sampler);
      std::vector<uint32_t> ids = {ids_.back()};
      const auto is_cancelled = [&] { return options_.cancelled && options_.cancelled(); };
      const auto take = [&](uint32_t id) {
        ids.push_back(id);
        return !is_cancelled();
      };
      const double start = clock_();
      while (ids.size() <= options_.generate && !is_cancelled()) {
        const size_t step = ids.size() - 1;
        if (by_lists) {
          TOK_TRY(decoding.run(options_.generate - uint32_t(step), ids, step, take));
        } else {
          TOK_TRY(const std::span<const float> rows, session.feed(std::span(ids).last(1)));
          TOK_TRY(const uint32_t id, sampler.next(last_row(rows, vocab_), ids, step));
          take(id);
        }
      }
      if (is_cancelled()) return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
      if (i > 0) seconds.push_back(clock_() - start);
    }
    test.seconds = timing_of(std::move(seconds));
    count_steps(test, by_lists ? "sampled" : "decode");
    report.tests.push_back(std::move(test));
    return {};
  }

  /// Steps of one token, by the phase of that name and those that take its place.
  void count_steps(BenchTest& test, std::string_view name) {
    const Plan& plan = engine_.compiled().plan;
    const auto named = std::ranges::find(plan.phases, name, &Phase::name);
    const size_t first = size_t(named - plan.phases.begin());
    for (uint32_t step = 0; step < options_.generate; ++step) {
      const Phase& phase = plan.phases[plan.phase_at(first, options_.depth + step)];
      add(test, phase_cost(plan, phase, 1, uint64_t{options_.depth} + step + 1),
          phase.steps.size());
    }
  }

  /// The chunks that Session makes of a prompt.
  void count_prefill(BenchTest& test) {
    const Plan& plan = engine_.compiled().plan;
    const uint32_t chunk = plan.chunk();
    for (uint32_t at = 0; at < options_.prompt; at += chunk) {
      const uint32_t tokens = std::min(chunk, options_.prompt - at);
      const Phase& phase = plan.phases[plan.phase_for(tokens)];
      add(test, phase_cost(plan, phase, tokens, uint64_t{options_.depth} + at + tokens),
          phase.steps.size());
    }
  }

  static void add(BenchTest& test, const Cost& cost, size_t launches) {
    test.bytes_per_token += double(cost.bytes) / test.tokens;
    test.flops_per_token += double(cost.flops) / test.tokens;
    test.launches_per_token += double(launches) / test.tokens;
  }

  Engine& engine_;
  const BenchOptions& options_;
  const Clock& clock_;
  const uint32_t vocab_;
  const std::vector<uint32_t> ids_;
};

}  // namespace

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

Result<BenchReport> bench_engine(Engine& engine, const BenchOptions& options, const Clock& clock) {
  const Engine::Compiled& compiled = engine.compiled();
  const uint64_t needed =
      uint64_t{options.depth} + std::max({options.prompt, options.generate, 1u});
  if (needed > compiled.context) {
    return fail(ErrorCode::kUsage,
                "The tests need {} positions (depth {} and the larger of -p {} and -n {}), but the "
                "context has {} (see --context).",
                needed, options.depth, options.prompt, options.generate, compiled.context);
  }
  BenchReport report;
  report.model = engine.files().name;
  report.architecture = compiled.facts.architecture;
  report.device = engine.device();
  report.memory = footprint(compiled.plan);
  report.load = engine.load_times();
  report.compiled = engine.compile_report();
  for (const TensorInfo& tensor : engine.files().tensors.tensors()) {
    report.parameters += tensor.elements();
  }
  TOK_TRY(Bench(engine, options, clock).run(report));
  report.device_peak_bytes = engine.backend().device_bytes();

  std::vector<uint32_t> first, second;
  TOK_TRY(const std::vector<float> once, short_run(engine, first));
  TOK_TRY(const std::vector<float> again, short_run(engine, second));
  report.greedy_repeats = first == second && once.size() == again.size();
  report.logits_finite =
      std::all_of(once.begin(), once.end(), [](float value) { return std::isfinite(value); });
  return report;
}

}  // namespace tokamak
