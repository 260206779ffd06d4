// Requests for texts that run at the same time: what comes of them is gathered, and a step takes it
// to the page.
#pragma once
#include <cstdint>
#include <map>

#include "base/json.h"
#include "generate/schedule/scheduler.h"

namespace tokamak::web {

class Requests {
 public:
  /// Its number, from 1. Errors: those of Scheduler::add.
  Result<uint32_t> add(Scheduler& scheduler, Request request);
  /// Does nothing where it has ended or never was.
  void cancel(Scheduler& scheduler, uint32_t request);
  /// Forgets all of them.
  void clear();

  /// Returns the events since the last call: {request, text, ids[, logprobs]} and at the end
  /// {request, done: result} or {request, error}.
  Json::Array take_events();

 private:
  struct Piece {
    std::string text;
    Json::Array ids, logprobs;
  };

  /// Turns the results of a request into events.
  void flush(uint32_t request);

  std::map<uint32_t, RequestId> running_;
  std::map<uint32_t, Piece> pieces_;
  Json::Array events_;
  uint32_t last_ = 0;
};

}  // namespace tokamak::web
