#include "protocol/answers/logprob_shapes.h"

#include <algorithm>
#include <cmath>

namespace tokamak::protocol {
namespace {

/// JSON has no infinity: OpenAI's number for what cannot come.
double finite(float logprob) {
  return std::max(double(logprob), -9999.0);
}

Json token_json(const Tokenizer& tokenizer, const TokenLogprob& token) {
  const std::string bytes = tokenizer.bytes(token.id);
  Json shown;
  if (!tokenizer.is_special(token.id)) {
    Json::Array numbers;
    for (const char byte : bytes) numbers.push_back(uint32_t{uint8_t(byte)});
    shown = std::move(numbers);
  }
  return Json(Json::Object{
      {"token", bytes}, {"logprob", finite(token.logprob)}, {"bytes", std::move(shown)}});
}

bool begins_character(char byte) {
  return (uint8_t(byte) & 0xC0) != 0x80;
}

/// How many bytes of `text` the token takes.
size_t taken_bytes(const Tokenizer& tokenizer, uint32_t id, bool begins, std::string_view text) {
  const std::string bytes = tokenizer.bytes(id, begins);
  if (text.starts_with(bytes)) return bytes.size();
  // After a special token some tokenizers begin anew, with a space that the text has not.
  const std::string first = tokenizer.bytes(id, true);
  if (text.starts_with(first)) return first.size();
  if (tokenizer.is_special(id)) return 0;
  // The tokenizer has written the text otherwise before it cut it: as many characters.
  auto left = std::ranges::count_if(bytes, begins_character);
  size_t taken = 0;
  for (; taken < text.size(); ++taken) {
    if (begins_character(text[taken]) && left-- == 0) break;
  }
  return taken;
}

}  // namespace

Json chat_logprobs(const Tokenizer& tokenizer, std::span<const CompletionToken> tokens) {
  Json::Array content;
  for (const CompletionToken& token : tokens) {
    Json one = token_json(tokenizer, token.logprobs.chosen);
    Json::Array top;
    for (const TokenLogprob& other : token.logprobs.top) {
      top.push_back(token_json(tokenizer, other));
    }
    one.set("top_logprobs", std::move(top));
    content.push_back(std::move(one));
  }
  return Json(Json::Object{{"content", std::move(content)}, {"refusal", nullptr}});
}

Json completion_logprobs(const Tokenizer& tokenizer, std::span<const CompletionToken> tokens) {
  Json::Array texts, logprobs, tops, offsets;
  for (const auto& [token, offset] : tokens) {
    texts.push_back(tokenizer.bytes(token.chosen.id));
    const bool is_known = !std::isnan(token.chosen.logprob);
    logprobs.push_back(is_known ? Json(finite(token.chosen.logprob)) : Json());
    Json top = is_known ? Json(Json::Object{}) : Json();
    for (const TokenLogprob& other : token.top) {
      top.set(tokenizer.bytes(other.id), finite(other.logprob));
    }
    tops.push_back(std::move(top));
    offsets.push_back(offset);
  }
  return Json(Json::Object{{"tokens", std::move(texts)},
                           {"token_logprobs", std::move(logprobs)},
                           {"top_logprobs", std::move(tops)},
                           {"text_offset", std::move(offsets)}});
}

uint64_t count_characters(std::string_view text) {
  return uint64_t(std::ranges::count_if(text, begins_character));
}

std::vector<uint64_t> prompt_offsets(const Tokenizer& tokenizer, std::span<const uint32_t> ids,
                                     std::string_view text) {
  std::vector<uint64_t> out;
  size_t at = 0;
  uint64_t begun = 0;  // characters before `at`, the last perhaps in part
  for (const uint32_t id : ids) {
    const bool is_within = at < text.size() && !begins_character(text[at]);
    out.push_back(begun - is_within);
    const size_t taken = taken_bytes(tokenizer, id, at == 0, text.substr(at));
    begun += count_characters(text.substr(at, taken));
    at += taken;
  }
  return out;
}

}  // namespace tokamak::protocol
