#include "formats/yaml.h"

#include <yaml.h>

#include <charconv>
#include <cmath>

namespace tokamak {
namespace {

constexpr uint32_t kMaxDepth = 32;

Json scalar(std::string_view text, bool plain) {
  if (!plain) return text;
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  const char* const end = text.data() + text.size();
  int64_t integer = 0;
  if (const auto [last, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && last == end) {
    return integer;
  }
  double number = 0;
  if (const auto [last, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && last == end && std::isfinite(number)) {
    return number;
  }
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) {
    ok_ = yaml_parser_initialize(&parser_) != 0;
    if (!ok_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() {
    yaml_event_delete(&event_);
    if (ok_) yaml_parser_delete(&parser_);
  }

  Result<Json> run() {
    if (!ok_) return fail(ErrorCode::kOutOfMemory, "There is no memory for a YAML parser.");
    do {
      TOK_TRY(next());
    } while (event_.type == YAML_STREAM_START_EVENT || event_.type == YAML_DOCUMENT_START_EVENT);
    return value(0);
  }

 private:
  Failure wrong(std::string_view what) const {
    return invalid_input("Line {}: {}.", event_.start_mark.line + 1, what);
  }

  Result<void> next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) != 0) return {};
    return invalid_input("Line {}: {}.", parser_.problem_mark.line + 1,
                         parser_.problem != nullptr ? parser_.problem : "it is no YAML");
  }

  std::string_view text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  /// The value that the current event begins.
  Result<Json> value(uint32_t depth) {
    if (depth > kMaxDepth) return wrong("values are too deep within values");
    switch (event_.type) {
      case YAML_SCALAR_EVENT:
        return scalar(text(), event_.data.scalar.plain_implicit != 0);
      case YAML_SEQUENCE_START_EVENT: {
        Json::Array items;
        for (;;) {
          TOK_TRY(next());
          if (event_.type == YAML_SEQUENCE_END_EVENT) return Json(std::move(items));
          TOK_TRY(items.emplace_back(), value(depth + 1));
        }
      }
      case YAML_MAPPING_START_EVENT: {
        Json::Object members;
        for (;;) {
          TOK_TRY(next());
          if (event_.type == YAML_MAPPING_END_EVENT) return Json(std::move(members));
          if (event_.type != YAML_SCALAR_EVENT) return wrong("a key is not a text");
          std::string key(text());
          TOK_TRY(next());
          TOK_TRY(Json member, value(depth + 1));
          members.emplace_back(std::move(key), std::move(member));
        }
      }
      case YAML_ALIAS_EVENT:
        return wrong("aliases are not read");
      default:
        return wrong("a value is missing");
    }
  }

  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool ok_ = false;
};

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  return Parser(text).run();
}

}  // namespace tokamak
