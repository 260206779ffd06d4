#include "serve/trace.h"

#include <cmath>

#include "base/json.h"

namespace tokamak::serve {
namespace {

constexpr int kProcess = 1;  // "pid": the server

/// The format's unit; viewers show nothing finer than whole ones.
double microseconds(double seconds) {
  return std::round(seconds * 1e6);
}

Json event(std::string_view phase, std::string_view name, double at_seconds) {
  Json out;
  out.set("ph", std::string(phase)).set("name", std::string(name));
  return out.set("pid", kProcess).set("ts", microseconds(at_seconds));
}

}  // namespace

Trace::Trace(Write write, Clock clock, std::function<void()> failed)
    : write_(std::move(write)),
      clock_(std::move(clock)),
      failed_(std::move(failed)),
      start_(clock_()) {}

SchedulerObserver Trace::observer(std::string_view model, SchedulerObserver next) {
  return {.token = next.token,
          .steps =
              [this, name = std::string(model), next = next.steps](const StepsRun& run) {
                if (next) next(run);
                add_steps(name, run);
              },
          .finished =
              [this, name = std::string(model), next = next.finished](
                  const Generation& generation, double queue_seconds, bool repeats_prompt) {
                if (next) next(generation, queue_seconds, repeats_prompt);
                finished(name, generation, queue_seconds);
              }};
}

void Trace::count(std::string_view model, uint32_t running, uint32_t waiting) {
  const std::scoped_lock lock(mutex_);
  Row& row = row_of(model);
  if (row.counted == std::pair(running, waiting)) return;
  row.counted = {running, waiting};
  Json counted = event("C", fmt::format("requests of {}", model), clock_() - start_);
  Json numbers;
  numbers.set("running", running).set("waiting", waiting);
  add(counted.set("args", std::move(numbers)));
}

Trace::Row& Trace::row_of(std::string_view model) {
  const auto found = rows_.find(model);
  if (found != rows_.end()) return found->second;
  Row& row = rows_[std::string(model)];
  row.number = uint32_t(rows_.size());
  Json args;
  args.set("name", fmt::format("steps of {}", model));
  Json named = event("M", "thread_name", 0);
  add(named.set("tid", row.number).set("args", std::move(args)));
  return row;
}

/// The array that the events are in needs no end.
void Trace::add(const Json& event) {
  if (has_failed_) return;
  const std::string text = (is_empty_ ? "[\n" : ",\n") + event.dump();
  is_empty_ = false;
  if (write_(text)) return;
  has_failed_ = true;
  failed_();
}

void Trace::add_steps(std::string_view model, const StepsRun& run) {
  const std::scoped_lock lock(mutex_);
  const uint32_t row = row_of(model).number;
  const double each = run.seconds / run.steps, begin = run.end - run.seconds - start_;
  for (uint32_t i = 0; i < run.steps; ++i) {
    Json one = event("X", run.is_prefill ? "prefill" : "decode", begin + each * i);
    Json args;
    args.set("tokens", run.tokens);
    one.set("tid", row).set("dur", microseconds(each));
    add(one.set("args", std::move(args)));
  }
}

void Trace::finished(std::string_view model, const Generation& generation, double queue_seconds) {
  const std::scoped_lock lock(mutex_);
  const double end = clock_() - start_;
  const double first = end - generation.decode_seconds;
  const double begin = first - generation.prefill_seconds;
  const std::string id = fmt::format("{}", ++requests_);
  const auto span = [&](std::string_view name, double from, double to, Json args) {
    for (const auto& [phase, at] : {std::pair("b", from), {"e", to}}) {
      Json one = event(phase, name, at);
      one.set("cat", std::string("request")).set("id", id).set("tid", 0);
      if (*phase == 'b') one.set("args", args);
      add(one);
    }
  };
  Json args;
  args.set("model", std::string(model)).set("prompt_tokens", uint64_t{generation.prompt_tokens});
  args.set("cached_tokens", uint64_t{generation.cached_tokens});
  args.set("generated_tokens", uint64_t(generation.ids.size()));
  args.set("finish", std::string(finish_name(generation.finish)));
  span("request", begin, end, std::move(args));
  span("queue", begin, begin + queue_seconds, Json(Json::Object{}));
  span("prefill", begin + queue_seconds, first, Json(Json::Object{}));
  span("decode", first, end, Json(Json::Object{}));
}

}  // namespace tokamak::serve
