// Requests for texts that run at the same time: what comes of them is gathered, and a step takes it
// to the page.
#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include "base/json.h"
#include "generate/schedule/scheduler.h"
#include "protocol/output/answer_reader.h"

namespace tokamak::web {

/// How the answer of a chat is read.
struct AnswerForm {
  const Tokenizer& tokenizer;
  protocol::OutputFormat format;
  const std::vector<protocol::TokenMark>& marks;  // they outlive the request
};

class Requests {
 public:
  /// Its number, from 1. `form`: reasoning and calls come apart from the text. Errors: those of
  /// Scheduler::add.
  Result<uint32_t> add(Scheduler& scheduler, Request request, std::optional<AnswerForm> form);
  /// Does nothing where it has ended or never was.
  void cancel(Scheduler& scheduler, uint32_t request);
  /// Forgets all of them.
  void clear();

  /// Returns the events since the last call: {request, text, ids[, reasoning, calls, logprobs]} and
  /// at the end {request, done: result} or {request, error}; a call is {name, arguments}, both
  /// text.
  Json::Array take_events();

 private:
  struct Piece {
    std::string text, reasoning;
    Json::Array ids, calls, logprobs;
  };

  using Reader = std::shared_ptr<protocol::AnswerReader>;

  /// Has a reader take the request's tokens in place of its text.
  Reader read_answer(uint32_t number, Request& request, AnswerForm form);
  void take_calls(uint32_t number, protocol::AnswerReader& reader);

  /// Turns the results of a request into events.
  void flush(uint32_t request);

  std::map<uint32_t, RequestId> running_;
  std::map<uint32_t, Piece> pieces_;
  Json::Array events_;
  uint32_t last_ = 0;
};

}  // namespace tokamak::web
