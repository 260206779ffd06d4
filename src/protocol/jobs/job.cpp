#include "protocol/jobs/job.h"

#include <utility>

#include "protocol/answers/answer_writer.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kEvents = "text/event-stream";

}  // namespace

bool Job::step() {
  const Answer<bool> continues = next();
  if (continues && !*continues) sink_.end();
  if (continues) return *continues;
  const bool is_cancelled = sink_.is_cancelled && sink_.is_cancelled();
  fail(is_cancelled ? cancelled_by_server() : continues.error());
  return false;
}

void Job::fail(const ApiError& error) {
  const Json body = error.body(dialect_);
  if (!has_begun_) return sink_.whole(error.status, body.dump());
  // Within a sound there are no words for it.
  if (is_events_) sink_.write(protocol::event(body));
  sink_.end();
}

void Job::begin(std::string_view content_type) {
  if (std::exchange(has_begun_, true)) return;
  is_events_ = content_type.starts_with(kEvents);
  sink_.begin(200, content_type);
}

void Job::event(const Json& json) {
  begin("text/event-stream; charset=utf-8");
  sink_.write(protocol::event(json));
}

}  // namespace tokamak::protocol
