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

Json result_json(const Generation& result) {
  Json out;
  out.set("finish", finish_name(result.finish)).set("stop", result.stop);
  out.set("seed", result.seed).set("tokens", uint64_t(result.ids.size()));
  out.set("promptTokens", uint64_t(result.prompt_tokens));
  out.set("cachedTokens", uint64_t(result.cached_tokens));
  out.set("prefillSeconds", result.prefill_seconds);
  out.set("decodeSeconds", result.decode_seconds);
  return out;
}

}  // namespace

Result<uint32_t> Requests::add(Scheduler& scheduler, Request request) {
  const uint32_t number = last_ + 1;
  request.callbacks.text = [this, number](std::string_view text) { pieces_[number].text += text; };
  request.callbacks.token = [this, number](uint32_t id, const Logprobs* logprobs) {
    Piece& piece = pieces_[number];
    piece.ids.emplace_back(id);
    if (logprobs != nullptr) piece.logprobs.push_back(logprobs_json(*logprobs));
  };
  request.done = [this, number](const Result<Generation>& result) {
    flush(number);
    Json event;
    event.set("request", number);
    if (result) {
      event.set("done", result_json(*result));
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
  if (!piece.logprobs.empty()) event.set("logprobs", std::move(piece.logprobs));
  events_.push_back(std::move(event));
  pieces_.erase(found);
}

Json::Array Requests::take_events() {
  while (!pieces_.empty()) flush(pieces_.begin()->first);
  return std::exchange(events_, {});
}

}  // namespace tokamak::web
