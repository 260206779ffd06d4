#include "protocol/output/literals.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace tokamak::protocol {
namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

struct Word {
  std::string_view text;
  Json value;
};

const Word kWords[] = {{"true", true}, {"false", false}, {"null", nullptr},
                       {"True", true}, {"False", false}, {"None", nullptr}};

}  // namespace

std::string_view LiteralReader::rest() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  return rest_;
}

bool LiteralReader::take(std::string_view text) {
  if (!rest().starts_with(text)) return false;
  rest_.remove_prefix(text.size());
  return true;
}

std::optional<std::string_view> LiteralReader::name() {
  const auto end = std::ranges::find_if_not(rest(), is_name);
  const std::string_view found = rest_.substr(0, size_t(end - rest_.begin()));
  if (found.empty()) return std::nullopt;
  rest_.remove_prefix(found.size());
  return found;
}

bool LiteralReader::take_escape(std::string& out) {
  if (rest_.empty()) return false;
  const char kind = rest_[0];
  rest_.remove_prefix(1);
  constexpr std::string_view kLetters = "nrtbf", kMeant = "\n\r\t\b\f";
  if (kind == 'u') {
    // JSON pairs surrogates: its own reader does that.
    const size_t digits = rest_.substr(4).starts_with("\\u") ? 10 : 4;
    for (const size_t count : {digits, size_t{4}}) {
      const auto read = Json::parse("\"\\u" + std::string(rest_.substr(0, count)) + "\"");
      if (!read || !read->is_string()) continue;
      out += read->as_string();
      rest_.remove_prefix(count);
      return true;
    }
    return false;
  }
  const size_t at = kLetters.find(kind);
  out += at == std::string_view::npos ? kind : kMeant[at];
  return true;
}

std::optional<std::string> LiteralReader::quoted_text(char quote) {
  std::string out;
  while (!rest_.empty()) {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    if (c == quote) return out;
    if (c != '\\') {
      out += c;
    } else if (!take_escape(out)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string> LiteralReader::text() {
  if (mark_.empty()) {
    const char quote = rest().empty() ? '\0' : rest_[0];
    if (quote != '"' && quote != '\'') return std::nullopt;
    rest_.remove_prefix(1);
    return quoted_text(quote);
  }
  if (!take(mark_)) return std::nullopt;
  const size_t end = rest_.find(mark_);
  if (end == std::string_view::npos) return std::nullopt;
  std::string out(rest_.substr(0, end));
  rest_.remove_prefix(end + mark_.size());
  return out;
}

std::optional<Json> LiteralReader::list(std::string_view end, uint32_t depth) {
  Json::Array out;
  while (!take(end)) {
    auto item = value(depth + 1);
    if (!item) return std::nullopt;
    out.push_back(*std::move(item));
    if (take(",")) continue;
    if (!take(end)) return std::nullopt;
    break;
  }
  return Json(std::move(out));
}

std::optional<Json> LiteralReader::object(uint32_t depth) {
  Json out(Json::Object{});
  while (!take("}")) {
    std::optional<std::string> key = text();
    if (!key) {
      const auto bare = name();
      if (!bare) return std::nullopt;
      key = std::string(*bare);
    }
    if (!take(":")) return std::nullopt;
    auto item = value(depth + 1);
    if (!item) return std::nullopt;
    out.set(*std::move(key), *std::move(item));
    if (take(",")) continue;
    if (!take("}")) return std::nullopt;
    break;
  }
  return out;
}

std::optional<Json> LiteralReader::value(uint32_t depth) {
  if (depth > kMaxDepth) return std::nullopt;
  if (take("{")) return object(depth);
  if (take("[")) return list("]", depth);
  if (take("(")) return list(")", depth);
  const std::string_view before = rest();
  if (auto found = text()) return Json(*std::move(found));
  rest_ = before;
  for (const Word& word : kWords) {
    if (rest_.starts_with(word.text)) {
      rest_.remove_prefix(word.text.size());
      return word.value;
    }
  }
  const size_t end = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
  auto number = Json::parse(rest_.substr(0, end));
  if (!number || !number->is_number()) return std::nullopt;
  rest_.remove_prefix(end);
  return *std::move(number);
}

}  // namespace tokamak::protocol
