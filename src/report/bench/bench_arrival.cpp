#include "report/bench/bench_arrival.h"

#include <algorithm>

#include "report/bench/bench_batch.h"

namespace tokamak {
namespace {

/// Each sequence generates that many tokens before the prompt arrives.
constexpr uint32_t kBefore = 16;

class Arriving {
 public:
  Arriving(Scheduler& scheduler, std::span<const uint32_t> ids, const BenchOptions& options,
           const Clock& clock, const BenchTest& test)
      : scheduler_(scheduler),
        ids_(ids),
        options_(options),
        clock_(clock),
        test_(test),
        last_token_(test.sequences - 1),
        tokens_(test.sequences - 1) {}

  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;
  /// Ends what an error has left, whose callbacks refer to this.
  ~Arriving() {
    for (const RequestId request : requests_) scheduler_.cancel(request);
    static_cast<void>(scheduler_.run());
  }

  Result<Arrival> run() {
    Arrival out{.prompt = test_.arriving};
    // Software drivers compile a kernel for their processor at its first launch.
    Request warm_up = request_of(2, test_.arriving);
    warm_up.params.max_tokens = 1;
    warm_up.tenant += ", warming up";
    TOK_TRY(add(std::move(warm_up)));
    TOK_TRY(scheduler_.run());
    for (uint32_t i = 0; i + 1 < test_.sequences; ++i) TOK_TRY(add_stream(i));
    const auto all_have = [&](uint32_t tokens) {
      return step_until([this, tokens] { return std::ranges::min(tokens_) >= tokens; });
    };
    TOK_TRY(all_have(1));
    gaps_.clear();  // some waited for the prompts of others
    TOK_TRY(all_have(1 + kBefore));
    out.before_seconds = quantile(gaps_, 0.5);
    gaps_.clear();

    double begun = clock_();
    Request prompt = request_of(0, test_.arriving);
    prompt.params.max_tokens = 1;
    prompt.done = [this](Result<Generation>) { first_token_ = clock_(); };
    TOK_TRY(add(std::move(prompt)));
    TOK_TRY(step_until([&] { return first_token_ > 0; }));
    out.first_token_seconds = first_token_ - begun;
    out.median_seconds = quantile(gaps_, 0.5);
    out.slow_seconds = quantile(gaps_, 0.99);

    // Given up when a step of it has just been submitted, which has to be waited for.
    Request unwanted = request_of(1, test_.arriving);
    unwanted.params.max_tokens = 1;
    unwanted.done = [this](Result<Generation>) { ended_ = clock_(); };
    TOK_TRY(const RequestId id, add(std::move(unwanted)));
    const uint64_t steps = scheduler_.stats().prefill_steps;
    TOK_TRY(step_until([&] { return scheduler_.stats().prefill_steps > steps; }));
    begun = clock_();
    scheduler_.cancel(id);
    TOK_TRY(scheduler_.wait());
    TOK_TRY(step_until([&] { return ended_ > 0; }));
    out.cancel_seconds = ended_ - begun;
    return out;
  }

 private:
  Request request_of(uint32_t number, uint32_t tokens) const {
    Request request;
    request.prompt = bench_prompt(ids_, tokens, number);
    request.params.sampling.temperature = 0;
    request.tenant = test_.name();  // no test finds the prompt of another
    return request;
  }

  Result<void> add_stream(uint32_t i) {
    Request request = request_of(i + 2, test_.depth);
    request.params.max_tokens = UINT32_MAX;
    request.callbacks.token = [this, i](uint32_t, const Logprobs*) {
      const double now = clock_();
      if (tokens_[i]++ > 0) gaps_.push_back(now - last_token_[i]);
      last_token_[i] = now;
    };
    TOK_TRY(add(std::move(request)));
    return {};
  }

  Result<RequestId> add(Request request) {
    TOK_TRY(const RequestId id, scheduler_.add(std::move(request)));
    requests_.push_back(id);
    return id;
  }

  template <typename Condition>
  Result<void> step_until(Condition is_over) {
    for (;;) {
      TOK_TRY(const bool continues, scheduler_.step());
      if (is_over()) return {};
      if (options_.cancelled && options_.cancelled()) {
        return fail(ErrorCode::kCancelled, "The measurement was cancelled.");
      }
      if (!continues) {
        return fail(ErrorCode::kUsage,
                    "The sequences ended before a prompt of {} tokens was read beside them; a "
                    "larger context lets them go on.",
                    test_.arriving);
      }
      TOK_TRY(scheduler_.wait());
    }
  }

  /// The value that this share of all are not above; 0 of none.
  static double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[size_t(share * double(values.size() - 1))];
  }

  Scheduler& scheduler_;
  std::span<const uint32_t> ids_;
  const BenchOptions& options_;
  const Clock& clock_;
  const BenchTest& test_;
  std::vector<double> last_token_, gaps_;
  std::vector<uint32_t> tokens_;
  std::vector<RequestId> requests_;
  double first_token_ = 0, ended_ = 0;  // when
};

}  // namespace

Result<Arrival> time_arrival(Engine& engine, std::span<const uint32_t> ids,
                             const BenchOptions& options, const Clock& clock,
                             const BenchTest& test) {
  TOK_TRY(Scheduler * scheduler, engine.scheduler());
  return Arriving(*scheduler, ids, options, clock, test).run();
}

}  // namespace tokamak
