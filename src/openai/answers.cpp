#include "openai/answers.h"

#include <algorithm>

namespace tokamak::openai {
namespace {

/// JSON has no infinity: OpenAI's number for what cannot come.
double finite(float logprob) {
  return std::max(double(logprob), -9999.0);
}

Json token_json(const Tokenizer& tokenizer, const TokenLogprob& token) {
  const std::string bytes = tokenizer.bytes(token.id);
  Json::Array numbers;
  for (const char byte : bytes) numbers.push_back(uint32_t{uint8_t(byte)});
  return Json(Json::Object{
      {"token", bytes}, {"logprob", finite(token.logprob)}, {"bytes", std::move(numbers)}});
}

uint64_t characters(std::string_view bytes) {
  return uint64_t(std::ranges::count_if(bytes, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

}  // namespace

Json Usage::json() const {
  return Json(Json::Object{
      {"prompt_tokens", prompt_tokens},
      {"completion_tokens", completion_tokens},
      {"total_tokens", prompt_tokens + completion_tokens},
      {"prompt_tokens_details", Json(Json::Object{{"cached_tokens", cached_tokens}})}});
}

Json answer_object(const AnswerHead& head, bool is_chunk, Json::Array choices) {
  const char* chat = is_chunk ? "chat.completion.chunk" : "chat.completion";
  return Json(Json::Object{{"id", head.id},
                           {"object", head.is_chat ? chat : "text_completion"},
                           {"created", head.created},
                           {"model", head.model},
                           {"system_fingerprint", head.fingerprint},
                           {"choices", std::move(choices)}});
}

std::string_view finish_word(FinishReason reason) {
  const bool is_full = reason == FinishReason::kMaxTokens || reason == FinishReason::kContextFull;
  return is_full ? "length" : "stop";
}

Json chat_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens) {
  Json::Array content;
  for (const Logprobs& token : tokens) {
    Json one = token_json(tokenizer, token.chosen);
    Json::Array top;
    for (const TokenLogprob& other : token.top) top.push_back(token_json(tokenizer, other));
    one.set("top_logprobs", std::move(top));
    content.push_back(std::move(one));
  }
  return Json(Json::Object{{"content", std::move(content)}, {"refusal", nullptr}});
}

Json completion_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens,
                         uint64_t& offset) {
  Json::Array texts, logprobs, tops, offsets;
  for (const Logprobs& token : tokens) {
    const std::string bytes = tokenizer.bytes(token.chosen.id);
    texts.push_back(bytes);
    logprobs.push_back(finite(token.chosen.logprob));
    Json top(Json::Object{});
    for (const TokenLogprob& other : token.top) {
      top.set(tokenizer.bytes(other.id), finite(other.logprob));
    }
    tops.push_back(std::move(top));
    offsets.push_back(offset);
    offset += characters(bytes);
  }
  return Json(Json::Object{{"tokens", std::move(texts)},
                           {"token_logprobs", std::move(logprobs)},
                           {"top_logprobs", std::move(tops)},
                           {"text_offset", std::move(offsets)}});
}

Json call_json(const ToolCall& call, std::string id) {
  return Json(Json::Object{
      {"id", std::move(id)},
      {"type", "function"},
      {"function", Json(Json::Object{{"name", call.name}, {"arguments", call.arguments}})}});
}

std::string event(const Json& data) {
  return "data: " + data.dump() + "\n\n";
}

std::string random_id(std::string_view prefix, const std::function<uint64_t()>& random) {
  constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id(prefix);
  for (int word = 0; word < 3; ++word) {
    uint64_t bits = random();
    for (int i = 0; i < 8; ++i, bits /= kLetters.size()) id += kLetters[bits % kLetters.size()];
  }
  return id;
}

}  // namespace tokamak::openai
