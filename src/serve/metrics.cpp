#include "serve/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tokamak::serve {
namespace {

constexpr std::array kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,  1.0,
                                 2.5,   5.0,  10.0,  20.0, 40.0, 80.0, 160.0};
constexpr std::array kShortSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                      0.05,   0.1,   0.25,   0.5,   1.0,  2.5};
constexpr std::array kTokens = {1.0,   2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0,
                                500.0, 1e3, 2e3, 5e3,  1e4,  2e4,  5e4,   1e5};

/// The word of OpenAI's clients; "" where the answer is not whole.
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

/// Pages that are kept for prompts to come are not used: a new request has them if it needs them.
double share_used(const SchedulerStats& stats) {
  if (stats.pages == 0) return 0;
  return double(stats.pages - std::min(stats.pages, stats.free_pages + stats.idle_pages)) /
         stats.pages;
}

/// The text of one scrape: each metric once, with the samples of all models.
class Page {
 public:
  explicit Page(std::span<const ModelSample> models) : models_(models) {}

  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP tokamak:{0} {2}\n# TYPE tokamak:{0} {1}\n", name, type, help);
  }
  void sample(std::string_view name, const std::string& labels, double value) {
    text_ += labels.empty() ? fmt::format("tokamak:{} {}\n", name, value)
                            : fmt::format("tokamak:{}{{{}}} {}\n", name, labels, value);
  }
  /// `value`: of a ModelSample.
  template <typename Value>
  void gauge(std::string_view name, std::string_view help, const Value& value) {
    head(name, "gauge", help);
    for (const ModelSample& model : models_) sample(name, labels_of(model), double(value(model)));
  }
  template <typename Value>
  void counter(std::string_view name, std::string_view help, const Value& value) {
    head(name, "counter", help);
    for (const ModelSample& model : models_) sample(name, labels_of(model), double(value(model)));
  }
  void histogram(std::string_view name, std::string_view help, Histogram ModelCounters::* values) {
    head(name, "histogram", help);
    series(name, "", values);
  }
  void series(std::string_view name, std::string_view more, Histogram ModelCounters::* values) {
    for (const ModelSample& model : models_) {
      text_ += (model.counters.*values)
                   .text(fmt::format("tokamak:{}", name), labels_of(model) + std::string(more));
    }
  }
  /// A gauge of the server as a whole.
  void total(std::string_view name, std::string_view help, double value) {
    head(name, "gauge", help);
    sample(name, "", value);
  }
  static std::string labels_of(const ModelSample& model) {
    return fmt::format("model_name=\"{}\"", escaped(model.name));
  }
  std::string take() { return std::move(text_); }

 private:
  std::span<const ModelSample> models_;
  std::string text_;
};

/// An endpoint picker reads one sample of a metric, and adds none up.
void add_totals(Page& page, std::span<const ModelSample> models) {
  uint64_t waiting = 0, running = 0;
  double used = 0;
  for (const ModelSample& model : models) {
    waiting += model.stats.waiting;
    running += model.stats.running;
    used = std::max(used, share_used(model.stats));
  }
  page.total("total_queued_requests", "Requests that wait, of all models.", double(waiting));
  page.total("total_running_requests", "Requests that run, of all models.", double(running));
  page.total("kv_cache_utilization", "The largest kv_cache_usage_perc of a model.", used);
}

void add_cache_info(Page& page, std::span<const ModelSample> models) {
  page.head("cache_config_info", "gauge", "The pages of a model's KV cache, as labels.");
  for (const ModelSample& model : models) {
    if (model.stats.pages == 0) continue;
    page.sample("cache_config_info",
                fmt::format("{},block_size=\"{}\",num_gpu_blocks=\"{}\"", Page::labels_of(model),
                            kPageTokens, model.stats.pages),
                1);
  }
}

/// The memory and the links of each device.
void add_devices(Page& page, std::span<const ModelSample> models) {
  const auto series = [&](std::string_view name, size_t most_without, const auto& value) {
    for (const ModelSample& model : models) {
      if (model.devices.size() <= most_without) continue;
      for (size_t device = 0; device < model.devices.size(); ++device) {
        page.sample(name, fmt::format("{},device=\"{}\"", Page::labels_of(model), device),
                    double(value(model, device)));
      }
    }
  };
  page.head("device_memory_bytes", "gauge", "Bytes of the model's buffers on each device.");
  series("device_memory_bytes", 0,
         [](const ModelSample& model, size_t device) { return model.devices[device].bytes; });
  page.head("link_bytes_total", "counter",
            "Bytes that each of several devices took from the others, as the plan counts them.");
  series("link_bytes_total", 1,
         [](const ModelSample& model, size_t) { return model.counters.link_bytes; });
}

/// All adapters of a model come and go with it, and each step may have rows of all of them.
void add_adapters(Page& page, std::span<const ModelSample> models) {
  page.head("lora_requests_info", "gauge",
            "Adapters in memory and on their way there, as labels; the time of the last change.");
  for (const ModelSample& model : models) {
    if (model.adapters.empty()) continue;
    const std::string names = escaped(fmt::format("{}", fmt::join(model.adapters, ",")));
    page.sample("lora_requests_info",
                fmt::format("{},max_lora=\"{}\",running_lora_adapters=\"{}\","
                            "waiting_lora_adapters=\"{}\"",
                            Page::labels_of(model), model.adapters.size(),
                            model.is_loaded ? names : "", model.is_loading ? names : ""),
                double(model.changed));
  }
}

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

ModelCounters::ModelCounters()
    : first_token(kSeconds),
      next_token(kShortSeconds),
      whole(kSeconds),
      queue(kSeconds),
      prefill(kSeconds),
      decode(kSeconds),
      prompts(kTokens),
      generations(kTokens),
      step_tokens(kTokens),
      prefill_steps(kShortSeconds),
      decode_steps(kShortSeconds) {}

SchedulerObserver ModelMetrics::observer() {
  return {
      .token = [this](double seconds, bool is_first) { token(seconds, is_first); },
      .steps = [this](const StepsRun& run) { add(run); },
      .finished = [this](const Generation& generation, double seconds,
                         bool repeats_prompt) { finished(generation, seconds, repeats_prompt); }};
}

void ModelMetrics::count_links(uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  link_bytes_ = bytes;
}

void ModelMetrics::token(double seconds, bool is_first) {
  const std::scoped_lock lock(mutex_);
  (is_first ? counters_.first_token : counters_.next_token).add(seconds);
}

void ModelMetrics::add(const StepsRun& run) {
  const std::scoped_lock lock(mutex_);
  counters_.link_bytes += uint64_t{run.steps} * run.tokens * link_bytes_;
  for (uint32_t i = 0; i < run.steps; ++i) {
    counters_.step_tokens.add(run.tokens);
    (run.is_prefill ? counters_.prefill_steps : counters_.decode_steps)
        .add(run.seconds / run.steps);
  }
}

void ModelMetrics::finished(const Generation& generation, double queue_seconds,
                            bool repeats_prompt) {
  const std::scoped_lock lock(mutex_);
  last_finish_ = finish_word(generation.finish);
  if (!repeats_prompt) {
    counters_.prompt_tokens += generation.prompt_tokens;
    counters_.cached_tokens += generation.cached_tokens;
  }
  counters_.generated_tokens += generation.ids.size();
  if (last_finish_.empty()) return;
  counters_.queue.add(queue_seconds);
  counters_.prefill.add(std::max(generation.prefill_seconds - queue_seconds, 0.0));
  counters_.decode.add(generation.decode_seconds);
  counters_.whole.add(generation.prefill_seconds + generation.decode_seconds);
  counters_.prompts.add(double(generation.prompt_tokens));
  counters_.generations.add(double(generation.ids.size()));
}

void ModelMetrics::succeeded() {
  const std::scoped_lock lock(mutex_);
  const std::string finish = std::exchange(last_finish_, "");
  if (!finish.empty()) ++counters_.successes[finish];
}

void ModelMetrics::cancelled() {
  const std::scoped_lock lock(mutex_);
  ++counters_.cancelled;
}

ModelCounters ModelMetrics::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

void HttpMetrics::answered(std::string_view path, int status) {
  ++answers_[{std::string(path), status}];
}

std::string HttpMetrics::text(std::span<const ModelSample> models, size_t connections) const {
  using Sample = const ModelSample&;
  using Counters = ModelCounters;
  Page page(models);
  page.gauge("model_loaded", "1: the model is in memory.", [](Sample m) { return m.is_loaded; });
  page.counter("model_loads_total", "How often the model was loaded.",
               [](Sample m) { return m.loads; });
  page.gauge("num_requests_running", "Requests that have a place in the batch.",
             [](Sample m) { return m.stats.running; });
  page.gauge("num_requests_waiting", "Requests that wait for one, or for the model.",
             [](Sample m) { return m.stats.waiting; });
  page.gauge("kv_cache_usage_perc", "Share of the pages that requests use, 0 to 1.",
             [](Sample m) { return share_used(m.stats); });
  add_totals(page, models);
  add_cache_info(page, models);
  add_adapters(page, models);
  add_devices(page, models);
  page.counter("prompt_tokens_total", "Tokens of prompts, cached ones too.",
               [](Sample m) { return m.counters.prompt_tokens; });
  page.counter("generation_tokens_total", "Tokens that were generated.",
               [](Sample m) { return m.counters.generated_tokens; });
  page.counter("prefix_cache_queries_total", "Tokens looked for in the cache.",
               [](Sample m) { return m.counters.prompt_tokens; });
  page.counter("prefix_cache_hits_total", "Tokens found there.",
               [](Sample m) { return m.counters.cached_tokens; });
  page.counter("num_preemptions_total", "Requests that gave back their pages.",
               [](Sample m) { return m.stats.preemptions; });
  page.counter("spec_decode_num_drafts_total", "Drafts that were verified.",
               [](Sample m) { return m.stats.drafts; });
  page.counter("spec_decode_num_draft_tokens_total", "Tokens of drafts.",
               [](Sample m) { return m.stats.drafted_tokens; });
  page.counter("spec_decode_num_accepted_tokens_total", "Tokens of drafts that came true.",
               [](Sample m) { return m.stats.accepted_tokens; });
  page.counter("device_lost_total", "How often the device was lost.",
               [](Sample m) { return m.stats.device_losses; });
  page.counter("requests_cancelled_total", "Requests whose client went.",
               [](Sample m) { return m.counters.cancelled; });
  page.head("request_success_total", "counter", "Requests that were answered whole.");
  for (const ModelSample& model : models) {
    for (const auto& [finish, count] : model.counters.successes) {
      page.sample("request_success_total",
                  fmt::format("{},finished_reason=\"{}\"", Page::labels_of(model), finish),
                  double(count));
    }
  }
  page.head("http_connections", "gauge", "Connections that are open.");
  page.sample("http_connections", "", double(connections));
  page.head("http_requests_total", "counter", "Answers; 499: the client went before the end.");
  for (const auto& [answer, count] : answers_) {
    page.sample("http_requests_total",
                fmt::format("path=\"{}\",status=\"{}\"", answer.first, answer.second),
                double(count));
  }
  page.histogram("time_to_first_token_seconds", "From arrival to the first token.",
                 &Counters::first_token);
  page.histogram("inter_token_latency_seconds", "From token to token.", &Counters::next_token);
  page.histogram("e2e_request_latency_seconds", "From arrival to the end.", &Counters::whole);
  page.histogram("request_queue_time_seconds", "From arrival to a place in the batch.",
                 &Counters::queue);
  page.histogram("request_prefill_time_seconds", "From there to the first token.",
                 &Counters::prefill);
  page.histogram("request_decode_time_seconds", "From the first token to the last.",
                 &Counters::decode);
  page.histogram("request_prompt_tokens", "Tokens of a prompt.", &Counters::prompts);
  page.histogram("request_generation_tokens", "Tokens of an answer.", &Counters::generations);
  page.histogram("iteration_tokens_total", "Tokens of a step.", &Counters::step_tokens);
  page.head("step_seconds", "histogram", "Time of a step on the device.");
  page.series("step_seconds", ",kind=\"prefill\"", &Counters::prefill_steps);
  page.series("step_seconds", ",kind=\"decode\"", &Counters::decode_steps);
  return page.take();
}

}  // namespace tokamak::serve
