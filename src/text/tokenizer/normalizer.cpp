#include "text/tokenizer/normalizer.h"

#include "base/base64.h"
#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/json_fields.h"

namespace tokamak {
namespace {

/// Calls visit(out, c) for every character, which appends what becomes of it.
template <typename Visit>
std::string map_chars(std::string_view text, Visit visit) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    text.remove_prefix(c.bytes);
    visit(out, c.value);
  }
  return out;
}

template <typename Drop>
std::string drop_chars(std::string_view text, Drop drop) {
  return map_chars(text, [&](std::string& out, char32_t c) {
    if (!drop(c)) append_utf8(out, c);
  });
}

/// The ideographs that BERT sets apart (bert/tokenization.py, _is_chinese_char).
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string clean(std::string_view text) {
  return map_chars(text, [](std::string& out, char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') {
      out += ' ';
    } else if (c != kReplacementChar && !is_control_or_format(c)) {
      append_utf8(out, is_whitespace(c) ? U' ' : c);
    }
  });
}

std::string_view strip(std::string_view text, const Normalizer::Strip& sides) {
  while (sides.left && !text.empty() && is_whitespace(first_char(text).value)) {
    text.remove_prefix(first_char(text).bytes);
  }
  while (sides.right && !text.empty() && is_whitespace(last_char(text).value)) {
    text.remove_suffix(last_char(text).bytes);
  }
  return text;
}

struct Apply {
  std::string& text;

  Result<void> operator()(NormalForm form) const {
    if (!is_ascii(text)) text = to_normal_form(text, form);
    return {};
  }
  Result<void> operator()(Normalizer::Lowercase) const {
    text = to_lower(text);
    return {};
  }
  Result<void> operator()(Normalizer::StripAccents) const {
    text = drop_chars(text, is_combining_mark);
    return {};
  }
  Result<void> operator()(Normalizer::ByteLevel) const {
    std::string chars;
    append_byte_chars(chars, text);
    text = std::move(chars);
    return {};
  }
  Result<void> operator()(const Normalizer::Replace& replace) const {
    TOK_TRY(text, replace.pattern.replace(text, replace.content));
    return {};
  }
  Result<void> operator()(const Normalizer::Prepend& prepend) const {
    if (!text.empty()) text.insert(0, prepend.text);
    return {};
  }
  Result<void> operator()(const Normalizer::Strip& sides) const {
    text = std::string(strip(text, sides));
    return {};
  }
  Result<void> operator()(const CharsMap& map) const {
    text = map.apply(text);
    return {};
  }
  Result<void> operator()(const Normalizer::Bert& bert) const {
    if (bert.clean_text) text = clean(text);
    if (bert.separate_chinese) {
      text = map_chars(text, [](std::string& out, char32_t c) {
        if (is_chinese(c)) out += ' ';
        append_utf8(out, c);
        if (is_chinese(c)) out += ' ';
      });
    }
    if (bert.strip_accents) {
      text = drop_chars(to_normal_form(text, NormalForm::kNfd), is_nonspacing_mark);
    }
    if (bert.lowercase) text = to_lower(text);
    return {};
  }
};

Result<Normalizer::Step> read_step(const Json& json, std::string_view type) {
  if (type == "NFC") return NormalForm::kNfc;
  if (type == "NFD") return NormalForm::kNfd;
  if (type == "NFKC") return NormalForm::kNfkc;
  if (type == "NFKD") return NormalForm::kNfkd;
  if (type == "Lowercase") return Normalizer::Lowercase{};
  if (type == "StripAccents") return Normalizer::StripAccents{};
  if (type == "ByteLevel") return Normalizer::ByteLevel{};
  if (type == "Replace") {
    TOK_TRY(const Json* pattern, require_field(json, "pattern", Json::Kind::kObject));
    TOK_TRY(TextPattern compiled, TextPattern::from_json(*pattern));
    TOK_TRY(std::string content, string_field(json, "content"));
    return Normalizer::Replace{std::move(compiled), std::move(content)};
  }
  if (type == "Prepend") {
    TOK_TRY(std::string text, string_field(json, "prepend"));
    return Normalizer::Prepend{std::move(text)};
  }
  if (type == "Strip") {
    TOK_TRY(const bool left, bool_field(json, "strip_left", true));
    TOK_TRY(const bool right, bool_field(json, "strip_right", true));
    return Normalizer::Strip{left, right};
  }
  if (type == "BertNormalizer") {
    TOK_TRY(const bool clean_text, bool_field(json, "clean_text", true));
    TOK_TRY(const bool chinese, bool_field(json, "handle_chinese_chars", true));
    TOK_TRY(const bool lowercase, bool_field(json, "lowercase", true));
    TOK_TRY(const bool strip_accents, bool_field(json, "strip_accents", lowercase));
    return Normalizer::Bert{clean_text, chinese, strip_accents, lowercase};
  }
  if (type == "Precompiled") {
    TOK_TRY(const std::string encoded, string_field(json, "precompiled_charsmap"));
    const auto bytes = bytes_of_loose_base64(encoded);
    if (!bytes) return invalid_input("The precompiled_charsmap is not base64.");
    TOK_TRY(CharsMap map,
            CharsMap::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
    return map;
  }
  return unsupported("The normalizer type \"{}\" is not supported.", type);
}

}  // namespace

Result<void> Normalizer::add_steps(const Json& json, std::vector<Step>& steps) {
  TOK_TRY(const std::string type, string_field(json, "type"));
  if (type != "Sequence") {
    TOK_TRY(Step step, read_step(json, type));
    steps.push_back(std::move(step));
    return {};
  }
  TOK_TRY(const Json* parts, require_field(json, "normalizers", Json::Kind::kArray));
  for (const Json& part : parts->as_array()) TOK_TRY(add_steps(part, steps));
  return {};
}

Result<Normalizer> Normalizer::from_json(const Json& json) {
  Normalizer normalizer;
  if (!json.is_null()) TOK_TRY(add_steps(json, normalizer.steps_));
  return normalizer;
}

Result<std::string> Normalizer::apply(std::string text) const {
  for (const Step& step : steps_) TOK_TRY(std::visit(Apply{text}, step));
  return text;
}

}  // namespace tokamak
