#include "openai/logprob_shapes.h"

#include <algorithm>
#include <cmath>

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
    const bool is_known = !std::isnan(token.chosen.logprob);
    logprobs.push_back(is_known ? Json(finite(token.chosen.logprob)) : Json());
    Json top = is_known ? Json(Json::Object{}) : Json();
    for (const TokenLogprob& other : token.top) {
      top.set(tokenizer.bytes(other.id), finite(other.logprob));
    }
    tops.push_back(std::move(top));
    offsets.push_back(offset);
    if (!tokenizer.is_special(token.chosen.id)) offset += characters(bytes);  // others are unseen
  }
  return Json(Json::Object{{"tokens", std::move(texts)},
                           {"token_logprobs", std::move(logprobs)},
                           {"top_logprobs", std::move(tops)},
                           {"text_offset", std::move(offsets)}});
}

}  // namespace tokamak::openai
