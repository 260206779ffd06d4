#include "openai/exchange.h"

#include <algorithm>

#include "base/splitmix.h"

namespace tokamak::openai {
namespace {

constexpr std::string_view kEventStream = "text/event-stream; charset=utf-8";

uint64_t seed_of(uint64_t first, size_t choice) {
  if (choice == 0) return first;
  uint64_t state = first;
  state = next_random(state) + choice;
  return next_random(state) >> 1;
}

}  // namespace

TextExchange::TextExchange(const Tokenizer& tokenizer, AnswerHead head, TextJob job,
                           ToolFormat tools, Random random, Sink sink)
    : tokenizer_(&tokenizer),
      head_(std::move(head)),
      job_(std::move(job)),
      random_(std::move(random)),
      sink_(std::move(sink)) {
  if (!job_.seed) job_.seed = random_() >> 1;
  for (size_t i = 0; i < job_.prompts.size() * job_.choices; ++i) {
    choices_.emplace_back(job_.has_tools ? tools : ToolFormat::kNone);
  }
}

Request TextExchange::request(size_t index) {
  Request request = prompt_of(index);
  request.params.sampling.seed = seed_of(*job_.seed, index % job_.choices);
  request.callbacks.token = [own = shared_from_this(), index](uint32_t id,
                                                              const Logprobs* logprobs) {
    if (!own->is_over_) own->take_token(index, id, logprobs);
  };
  request.callbacks.text = [own = shared_from_this(), index](std::string_view text) {
    if (!own->is_over_) own->take_text(index, text);
  };
  request.callbacks.cancelled = [own = shared_from_this()] { return own->is_over_; };
  request.done = [own = shared_from_this(), index](Result<Generation> end) {
    if (!own->is_over_) own->take_end(index, std::move(end));
  };
  return request;
}

void TextExchange::fail(const ApiError& error) {
  if (std::exchange(is_over_, true)) return;
  if (!has_begun_) return sink_.whole(error.status, error.body().dump());
  sink_.write(event(error.body()));
  sink_.end();
}

void TextExchange::take_token(size_t index, uint32_t id, const Logprobs* logprobs) {
  if (job_.streams) begin_stream(index);
  const auto& ends = prompt_of(index).params.end_ids;
  const bool is_end = ends && std::ranges::find(*ends, id) != ends->end();
  if (logprobs != nullptr && !is_end) choices_[index].logprobs.push_back(*logprobs);
}

void TextExchange::take_text(size_t index, std::string_view text) {
  take_piece(index, choices_[index].reader.push(text));
}

void TextExchange::take_piece(size_t index, ToolCallReader::Piece piece) {
  Choice& choice = choices_[index];
  if (job_.streams && !piece.content.empty()) {
    const Json content(piece.content);
    write_chunk(index, job_.is_chat ? Json(Json::Object{{"content", content}}) : content, "");
  } else {
    choice.content += piece.content;
  }
  for (const ToolCall& call : piece.calls) {
    if (job_.one_call_only && choice.call_count > 0) return;
    Json json = call_json(call, random_id("call_", random_));
    if (job_.streams)
      json.as_object().insert(json.as_object().begin(), {"index", choice.call_count});
    ++choice.call_count;
    if (job_.streams) {
      Json::Array one = {std::move(json)};
      write_chunk(index, Json(Json::Object{{"tool_calls", std::move(one)}}), "");
    } else {
      choice.calls.push_back(std::move(json));
    }
  }
}

void TextExchange::take_end(size_t index, Result<Generation> end) {
  if (!end) return fail(api_error(end.error()));
  if (end->finish == FinishReason::kCancelled) {
    return fail({.status = 503, .message = "The request was cancelled by the server."});
  }
  Choice& choice = choices_[index];
  take_piece(index, choice.reader.finish());
  choice.end = *std::move(end);
  choice.has_ended = true;
  if (job_.streams) {
    begin_stream(index);
    const Json nothing = job_.is_chat ? Json(Json::Object{}) : Json("");
    write_chunk(index, nothing, finish_of(choice));
  }
  if (std::ranges::all_of(choices_, &Choice::has_ended)) finish_all();
}

void TextExchange::begin_stream(size_t index) {
  if (!std::exchange(has_begun_, true)) sink_.begin(200, kEventStream);
  if (std::exchange(choices_[index].has_begun, true)) return;
  if (job_.is_chat) {
    write_chunk(index, Json(Json::Object{{"role", "assistant"}, {"content", ""}}), "");
  } else if (const std::string& echo = job_.echoes[index / job_.choices]; !echo.empty()) {
    write_chunk(index, echo, "");
  }
}

void TextExchange::write_chunk(size_t index, Json delta, std::string_view finish) {
  Choice& choice = choices_[index];
  Json one(Json::Object{{"index", uint64_t(index)}});
  one.set(job_.is_chat ? "delta" : "text", std::move(delta));
  one.set("logprobs", choice.logprobs.empty() ? Json() : logprobs_of(choice));
  one.set("finish_reason", finish.empty() ? Json() : Json(finish));
  choice.logprobs.clear();
  sink_.write(event(answer_object(head_, true, {std::move(one)})));
}

Json TextExchange::logprobs_of(Choice& choice) {
  if (job_.is_chat) return chat_logprobs(*tokenizer_, choice.logprobs);
  return completion_logprobs(*tokenizer_, choice.logprobs, choice.text_offset);
}

std::string_view TextExchange::finish_of(const Choice& choice) const {
  return choice.call_count > 0 ? "tool_calls" : finish_word(choice.end.finish);
}

Json TextExchange::whole_choice(size_t index) {
  Choice& choice = choices_[index];
  Json one(Json::Object{{"index", uint64_t(index)}});
  if (job_.is_chat) {
    const bool has_content = !choice.content.empty() || choice.calls.empty();
    Json message(Json::Object{{"role", "assistant"},
                              {"content", has_content ? Json(choice.content) : Json()},
                              {"refusal", nullptr}});
    if (!choice.calls.empty()) message.set("tool_calls", choice.calls);
    one.set("message", std::move(message));
  } else {
    one.set("text", job_.echoes[index / job_.choices] + choice.content);
  }
  one.set("logprobs", prompt_of(index).params.logprobs ? logprobs_of(choice) : Json());
  one.set("finish_reason", finish_of(choice));
  return one;
}

Usage TextExchange::usage() const {
  Usage all;
  for (size_t i = 0; i < choices_.size(); ++i) {
    all.completion_tokens += choices_[i].end.ids.size();
    if (i % job_.choices != 0) continue;  // a prompt counts once
    all.prompt_tokens += choices_[i].end.prompt_tokens;
    all.cached_tokens += choices_[i].end.cached_tokens;
  }
  return all;
}

void TextExchange::finish_all() {
  is_over_ = true;
  if (!job_.streams) {
    Json::Array choices;
    for (size_t i = 0; i < choices_.size(); ++i) choices.push_back(whole_choice(i));
    Json answer = answer_object(head_, false, std::move(choices));
    answer.set("usage", usage().json());
    return sink_.whole(200, answer.dump());
  }
  if (job_.counts_usage) {
    Json chunk = answer_object(head_, true, {});
    chunk.set("usage", usage().json());
    sink_.write(event(chunk));
  }
  sink_.write("data: [DONE]\n\n");
  sink_.end();
}

}  // namespace tokamak::openai
