#include "apps/web/requests.h"

#include <utility>

#include "apps/web/verbs.h"

namespace tokamak::web {
namespace {

Json logprob_json(const TokenLogprob& token) {
  Json out;
  out.set("id", token.id).set("logprob", double(token.logprob));
  return out;
}

Json logprobs_json(const Logprobs& logprobs) {
  Json out = logprob_json(logprobs.chosen);
  Json::Array top;
  for (const TokenLogprob& token : logprobs.top) top.push_back(logprob_json(token));
  out.set("top", std::move(top));
  return out;
}

/// `reader`: of a chat's answer, whose stop texts end it; null where it is no chat.
Json result_json(const Generation& result, const protocol::AnswerReader* reader) {
  const bool is_stopped = reader != nullptr && reader->has_stopped();
  Json out;
  out.set("finish", finish_name(is_stopped ? FinishReason::kStopString : result.finish));
  out.set("stop", is_stopped ? reader->stop() : result.stop).set("seed", result.seed);
  out.set("tokens", uint64_t(is_stopped ? reader->tokens() : result.ids.size()));
  out.set("promptTokens", uint64_t(result.prompt_tokens));
  out.set("cachedTokens", uint64_t(result.cached_tokens));
  out.set("prefillSeconds", result.prefill_seconds);
  out.set("decodeSeconds", result.decode_seconds);
  return out;
}

bool is_cut(const Result<Generation>& result) {
  return result && (result->finish == FinishReason::kMaxTokens ||
                    result->finish == FinishReason::kContextFull);
}

}  // namespace

Requests::Reader Requests::read_answer(uint32_t number, Request& request, AnswerForm form) {
  Reader reader = std::make_shared<protocol::AnswerReader>(
      form.tokenizer, std::move(form.format), form.marks, std::exchange(request.params.stop, {}),
      request.params.end_ids.value_or(std::vector<uint32_t>()),
      [this, number](bool is_reasoning, std::string_view text) {
        Piece& piece = pieces_[number];
        (is_reasoning ? piece.reasoning : piece.text) += text;
      });
  request.params.has_text = false;
  request.callbacks.cancelled = [reader] { return reader->has_stopped(); };
  return reader;
}

void Requests::take_calls(uint32_t number, protocol::AnswerReader& reader) {
  for (protocol::ToolCall& call : reader.take_calls()) {
    Json one;
    one.set("name", std::move(call.name)).set("arguments", std::move(call.arguments));
    pieces_[number].calls.push_back(std::move(one));
  }
}

Result<uint32_t> Requests::add(Scheduler& scheduler, Request request,
                               std::optional<AnswerForm> form) {
  const uint32_t number = last_ + 1;
  Reader reader;
  if (form) {
    reader = read_answer(number, request, *std::move(form));
  } else {
    request.callbacks.text = [this, number](std::string_view text) {
      pieces_[number].text += text;
    };
  }
  request.callbacks.token = [this, number, reader](uint32_t id, const Logprobs* logprobs) {
    if (reader && reader->has_stopped()) return;
    Piece& piece = pieces_[number];
    piece.ids.emplace_back(id);
    if (logprobs != nullptr) piece.logprobs.push_back(logprobs_json(*logprobs));
    if (!reader) return;
    reader->take(id);
    take_calls(number, *reader);
  };
  request.done = [this, number, reader](const Result<Generation>& result) {
    if (reader) {
      reader->finish(is_cut(result));
      take_calls(number, *reader);
    }
    flush(number);
    Json event;
    event.set("request", number);
    if (result) {
      event.set("done", result_json(*result, reader.get()));
    } else {
      event.set("error", error_json(result.error()));
    }
    events_.push_back(std::move(event));
    running_.erase(number);
  };
  TOK_TRY(const RequestId id, scheduler.add(std::move(request)));
  last_ = number;
  running_.emplace(number, id);
  return number;
}

void Requests::cancel(Scheduler& scheduler, uint32_t request) {
  const auto found = running_.find(request);
  if (found != running_.end()) scheduler.cancel(found->second);
}

void Requests::clear() {
  running_.clear();
  pieces_.clear();
  events_.clear();
}

void Requests::flush(uint32_t request) {
  const auto found = pieces_.find(request);
  if (found == pieces_.end()) return;
  Piece& piece = found->second;
  Json event;
  event.set("request", request).set("text", std::move(piece.text));
  event.set("ids", std::move(piece.ids));
  if (!piece.reasoning.empty()) event.set("reasoning", std::move(piece.reasoning));
  if (!piece.calls.empty()) event.set("calls", std::move(piece.calls));
  if (!piece.logprobs.empty()) event.set("logprobs", std::move(piece.logprobs));
  events_.push_back(std::move(event));
  pieces_.erase(found);
}

Json::Array Requests::take_events() {
  while (!pieces_.empty()) flush(pieces_.begin()->first);
  return std::exchange(events_, {});
}

}  // namespace tokamak::web
