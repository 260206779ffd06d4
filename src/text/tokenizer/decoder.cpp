#include "text/tokenizer/decoder.h"

#include <algorithm>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/decoder_sinks.h"
#include "text/tokenizer/json_fields.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

Result<Decoder::Step> read_step(const Json& json, std::string_view type) {
  if (type == "ByteLevel") return Decoder::ByteLevel{};
  if (type == "ByteFallback") return Decoder::ByteFallback{};
  if (type == "Fuse") return Decoder::Fuse{};
  if (type == "Replace") {
    TOK_TRY(const Json* pattern, require_field(json, "pattern", Json::Kind::kObject));
    TOK_TRY(TextPattern compiled, TextPattern::from_json(*pattern));
    TOK_TRY(std::string content, string_field(json, "content"));
    return Decoder::Replace{std::move(compiled), std::move(content)};
  }
  if (type == "Strip") {
    TOK_TRY(const std::string content, string_field(json, "content"));
    if (content.empty() || first_char(content).bytes != content.size()) {
      return invalid_input("\"content\" is \"{}\"; one character is expected.", content);
    }
    TOK_TRY(const uint32_t start, u32_field(json, "start"));
    TOK_TRY(const uint32_t stop, u32_field(json, "stop"));
    return Decoder::Strip{first_char(content).value, start, stop};
  }
  if (type == "Metaspace") {
    TOK_TRY(const auto metaspace, read_metaspace(json));
    return Decoder::Metaspace{metaspace.replacement,
                              metaspace.prepend != PreTokenizer::Prepend::kNever};
  }
  if (type == "WordPiece") {
    TOK_TRY(std::string prefix, string_field(json, "prefix"));
    TOK_TRY(const bool cleanup, bool_field(json, "cleanup", true));
    return Decoder::WordPiece{std::move(prefix), cleanup};
  }
  if (type == "BPEDecoder") {
    TOK_TRY(std::string suffix, string_field(json, "suffix"));
    return Decoder::WordSuffix{std::move(suffix)};
  }
  return unsupported("The decoder type \"{}\" is not supported.", type);
}

}  // namespace

Result<void> Decoder::add_steps(const Json& json, std::vector<Step>& steps) {
  TOK_TRY(const std::string type, string_field(json, "type"));
  if (type != "Sequence") {
    TOK_TRY(Step step, read_step(json, type));
    steps.push_back(std::move(step));
    return {};
  }
  TOK_TRY(const Json* parts, require_field(json, "decoders", Json::Kind::kArray));
  for (const Json& part : parts->as_array()) TOK_TRY(add_steps(part, steps));
  return {};
}

Result<Decoder> Decoder::from_json(const Json& json) {
  Decoder decoder;
  if (json.is_null()) {
    decoder.steps_.emplace_back(JoinWithSpaces{});
  } else {
    TOK_TRY(add_steps(json, decoder.steps_));
  }
  return decoder;
}

TokenSinkPtr Decoder::open(std::string& out) const {
  TokenSinkPtr sink = make_text_sink(out);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    sink = std::visit([&](const auto& s) { return make_sink(s, std::move(sink)); }, *step);
  }
  return sink;
}

std::string Decoder::bytes_of(std::string_view token, bool begins) const {
  for (const Step& step : steps_) {
    if (std::holds_alternative<ByteLevel>(step)) return bytes_of_chars(token);
    if (!std::holds_alternative<ByteFallback>(step)) continue;
    if (const auto byte = byte_of_token(token)) return std::string(1, char(*byte));
  }
  constexpr std::string_view kBefore = "a";  // a token that steps leave as it is
  std::string text;
  const TokenSinkPtr sink = open(text);
  if (!begins) sink->piece(kBefore, true);
  sink->piece(token, true);
  sink->finish();
  return begins ? text : text.substr(std::min(text.size(), kBefore.size()));
}

}  // namespace tokamak
