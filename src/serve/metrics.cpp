#include "serve/metrics.h"

#include <fmt/format.h>

#include <array>

namespace tokamak::serve {
namespace {

constexpr std::array kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,  1.0,
                                 2.5,   5.0,  10.0,  20.0, 40.0, 80.0, 160.0};
constexpr std::array kShortSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                      0.05,   0.1,   0.25,   0.5,   1.0,  2.5};
constexpr std::array kTokens = {1.0,   2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0,
                                500.0, 1e3, 2e3, 5e3,  1e4,  2e4,  5e4,   1e5};

/// Paths that may stand in a label: what strangers ask for would be series without end.
constexpr std::string_view kPaths[] = {
    "/",
    "/health",
    "/metrics",
    "/props",
    "/slots",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/embeddings",
    "/v1/rerank",
    "/v1/audio/transcriptions",
    "/v1/audio/translations",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/models",
    "/tokenize",
    "/detokenize",
    "/apply-template",
    "/api/chat",
    "/api/generate",
    "/api/embed",
    "/api/show",
    "/api/tags",
    "/api/ps",
    "/api/version",
};

std::string_view known_path(std::string_view path) {
  const auto known = std::ranges::find(kPaths, path);
  return known == std::end(kPaths) ? "other" : *known;
}

/// As OpenAI's clients call it; "" where the answer is not whole.
std::string_view finish_word(FinishReason reason) {
  if (reason == FinishReason::kCancelled) return "";
  const bool is_full = reason == FinishReason::kMaxTokens || reason == FinishReason::kContextFull;
  return is_full ? "length" : "stop";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

double share_used(const SchedulerStats& stats) {
  if (stats.pages == 0) return 0;
  return double(stats.pages - std::min(stats.pages, stats.free_pages)) / stats.pages;
}

/// The text of one scrape.
class Page {
 public:
  explicit Page(std::string_view model)
      : labels_(fmt::format("model_name=\"{}\"", escaped(model))) {}

  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP tokamak:{0} {2}\n# TYPE tokamak:{0} {1}\n", name, type, help);
  }
  void sample(std::string_view name, const std::string& more, double value) {
    text_ += fmt::format("tokamak:{}{{{}{}}} {}\n", name, labels_, more, value);
  }
  void gauge(std::string_view name, double value, std::string_view help) {
    head(name, "gauge", help);
    sample(name, "", value);
  }
  void counter(std::string_view name, uint64_t value, std::string_view help) {
    head(name, "counter", help);
    sample(name, "", double(value));
  }
  void histogram(std::string_view name, const Histogram& values, std::string_view help) {
    head(name, "histogram", help);
    series(name, "", values);
  }
  void series(std::string_view name, const std::string& more, const Histogram& values) {
    text_ += values.text(fmt::format("tokamak:{}", name), labels_ + more);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string labels_, text_;
};

}  // namespace

std::string Histogram::text(std::string_view name, std::string_view labels) const {
  std::string out;
  const std::string more = labels.empty() ? "" : fmt::format("{},", labels);
  uint64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, more, bounds_[i], below);
  }
  out += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, more, count_);
  out += fmt::format("{0}_sum{{{1}}} {2}\n{0}_count{{{1}}} {3}\n", name, labels, sum_, count_);
  return out;
}

Metrics::Metrics()
    : first_token_(kSeconds),
      next_token_(kShortSeconds),
      whole_(kSeconds),
      queue_(kSeconds),
      prefill_(kSeconds),
      decode_(kSeconds),
      prompts_(kTokens),
      generations_(kTokens),
      step_tokens_(kTokens),
      prefill_steps_(kShortSeconds),
      decode_steps_(kShortSeconds) {}

SchedulerObserver Metrics::observer() {
  return {.token = [this](double seconds, bool is_first) { token(seconds, is_first); },
          .step = [this](uint32_t tokens, double seconds,
                         bool is_prefill) { step(tokens, seconds, is_prefill); },
          .finished = [this](const Generation& generation,
                             double seconds) { finished(generation, seconds); }};
}

void Metrics::token(double seconds, bool is_first) {
  const std::scoped_lock lock(mutex_);
  (is_first ? first_token_ : next_token_).add(seconds);
}

void Metrics::step(uint32_t tokens, double seconds, bool is_prefill) {
  const std::scoped_lock lock(mutex_);
  step_tokens_.add(tokens);
  (is_prefill ? prefill_steps_ : decode_steps_).add(seconds);
}

void Metrics::finished(const Generation& generation, double queue_seconds) {
  const std::scoped_lock lock(mutex_);
  last_finish_ = finish_word(generation.finish);
  prompt_tokens_ += generation.prompt_tokens;
  cached_tokens_ += generation.cached_tokens;
  generated_tokens_ += generation.ids.size();
  if (last_finish_.empty()) return;
  queue_.add(queue_seconds);
  prefill_.add(std::max(generation.prefill_seconds - queue_seconds, 0.0));
  decode_.add(generation.decode_seconds);
  whole_.add(generation.prefill_seconds + generation.decode_seconds);
  prompts_.add(double(generation.prompt_tokens));
  generations_.add(double(generation.ids.size()));
}

void Metrics::succeeded() {
  const std::scoped_lock lock(mutex_);
  const std::string finish = std::exchange(last_finish_, "");
  if (!finish.empty()) ++successes_[finish];
}

void Metrics::cancelled() {
  const std::scoped_lock lock(mutex_);
  ++cancelled_;
}

void Metrics::answered(const Answered& answered) {
  const std::scoped_lock lock(mutex_);
  ++answers_[{std::string(known_path(answered.path)), answered.status}];
}

void Metrics::name_model(std::string model) {
  const std::scoped_lock lock(mutex_);
  model_ = std::move(model);
}

std::string Metrics::text(const SchedulerStats& stats, size_t connections) const {
  const std::scoped_lock lock(mutex_);
  Page page(model_);
  page.gauge("num_requests_running", stats.running, "Requests that have a place in the batch.");
  page.gauge("num_requests_waiting", stats.waiting, "Requests that wait for one.");
  page.gauge("kv_cache_usage_perc", share_used(stats),
             "Share of the pages that are in use, 0 to 1.");
  page.gauge("http_connections", double(connections), "Connections that are open.");
  page.counter("prompt_tokens_total", prompt_tokens_, "Tokens of prompts, cached ones too.");
  page.counter("generation_tokens_total", generated_tokens_, "Tokens that were generated.");
  page.counter("prefix_cache_queries_total", prompt_tokens_, "Tokens looked for in the cache.");
  page.counter("prefix_cache_hits_total", cached_tokens_, "Tokens found there.");
  page.counter("num_preemptions_total", stats.preemptions, "Requests that gave back their pages.");
  page.counter("device_lost_total", stats.device_losses, "How often the device was lost.");
  page.counter("requests_cancelled_total", cancelled_, "Requests whose client went.");
  page.head("request_success_total", "counter", "Requests that were answered whole.");
  for (const auto& [finish, count] : successes_) {
    page.sample("request_success_total", fmt::format(",finished_reason=\"{}\"", finish),
                double(count));
  }
  page.head("http_requests_total", "counter", "Answers; 499: the client went before the end.");
  for (const auto& [answer, count] : answers_) {
    page.sample("http_requests_total",
                fmt::format(",path=\"{}\",status=\"{}\"", answer.first, answer.second),
                double(count));
  }
  page.histogram("time_to_first_token_seconds", first_token_, "From arrival to the first token.");
  page.histogram("inter_token_latency_seconds", next_token_, "From token to token.");
  page.histogram("e2e_request_latency_seconds", whole_, "From arrival to the end.");
  page.histogram("request_queue_time_seconds", queue_, "From arrival to a place in the batch.");
  page.histogram("request_prefill_time_seconds", prefill_, "From there to the first token.");
  page.histogram("request_decode_time_seconds", decode_, "From the first token to the last.");
  page.histogram("request_prompt_tokens", prompts_, "Tokens of a prompt.");
  page.histogram("request_generation_tokens", generations_, "Tokens of an answer.");
  page.histogram("iteration_tokens_total", step_tokens_, "Tokens of a step.");
  page.head("step_seconds", "histogram", "Time of a step on the device.");
  page.series("step_seconds", ",kind=\"prefill\"", prefill_steps_);
  page.series("step_seconds", ",kind=\"decode\"", decode_steps_);
  return page.take();
}

}  // namespace tokamak::serve
