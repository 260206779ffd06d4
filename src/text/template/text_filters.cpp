// Filters that take a text; any other value is printed first.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/filters.h"
#include "text/template/format.h"
#include "text/template/print.h"
#include "text/template/text_edits.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

std::string unchanged(std::string_view text) {
  return std::string(text);
}

/// Words begin after spaces, hyphens and opening brackets.
std::string title_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t first = next_character(text, 0);
    size_t end = 0;
    for (bool ends = false; end < text.size() && !ends;) {
      const char32_t c = take_character(text, end);
      ends = is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    }
    out += to_upper(text.substr(0, first)) + to_lower(text.substr(first, end - first));
    text.remove_prefix(end);
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string url_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool keeps = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    out += keeps ? std::string(1, c) : fmt::format("%{:02X}", uint8_t(c));
  }
  return out;
}

constexpr TextChange kString{"string", unchanged}, kTitle{"title", title_words},
    kEscape{"escape", escape_html}, kUrlencode{"urlencode", url_quoted};

Result<Value> urlencode(Runtime& runtime, const Value& input, const Arguments& given) {
  if (input.is_dict() || input.is_sequence()) {
    return invalid_input("urlencode of a {} is not supported.", input.type_name());
  }
  return apply_change(runtime, input, given, kUrlencode);
}

Result<Value> trim(Runtime& runtime, const Value& input, const Arguments& given) {
  return strip_text(runtime, "trim", input, given, Side::kBoth);
}

Result<Value> replace(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("replace", given, {"old", "new", "count"}, 2));
  TOK_TRY(const std::string text, to_str(runtime, input));
  TOK_TRY(const std::string old, to_str(runtime, all[0]));
  TOK_TRY(const std::string with, to_str(runtime, all[1]));
  TOK_TRY(const int64_t count, integer_or(all[2].is_none() ? Value() : all[2], "count", -1));
  return replace_text(runtime, text, old, with, count);
}

Result<Value> center(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("center", given, {"width"}));
  TOK_TRY(const int64_t width, integer_or(all[0], "width", 80));
  TOK_TRY(const std::string text, to_str(runtime, input));
  return center_text(runtime, text, width, " ");
}

Result<Value> indent(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("indent", given, {"width", "first", "blank"}));
  if (!input.is_text()) {
    return invalid_input("indent needs a str and gets a {}.", input.type_name());
  }
  std::string indention;
  if (all[0].is_text()) {
    indention = all[0].as_text();
  } else {
    TOK_TRY(const int64_t width, integer_or(all[0], "width", 4));
    const size_t size = width > 0 ? size_t(width) : 0;
    TOK_TRY(runtime.check_room(size));
    indention.assign(size, ' ');
  }
  TOK_TRY(const std::string text, to_str(runtime, input));
  TOK_TRY(runtime.check_room(text.size() * (sizeof(std::string_view) + 1)));
  const std::string ended = text + "\n";
  const auto lines = split_lines(ended, false);
  const bool first = truth_or(all[1], false);
  const bool blank = truth_or(all[2], false);
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    TOK_TRY(runtime.check_room(out.size() + indention.size() + lines[i].size()));
    TOK_TRY(runtime.spend_reading(indention.size()));
    if (i > 0) out += '\n';
    if (i == 0 ? first : blank || !lines[i].empty()) out += indention;
    out += lines[i];
  }
  return runtime.text(std::move(out));
}

Result<Value> truncate(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("truncate", given, {"length", "killwords", "end", "leeway"}));
  TOK_TRY(const std::string text, to_str(runtime, input));
  TOK_TRY(const int64_t length, integer_or(all[0], "length", 255));
  TOK_TRY(const std::string_view end, text_or(all[2], "end", "..."));
  TOK_TRY(const int64_t leeway, integer_or(all[3].is_none() ? Value() : all[3], "leeway", 5));
  const int64_t end_size = int64_t(character_count(end));
  if (length < end_size) return invalid_input("expected length >= {}, got {}", end_size, length);
  if (leeway < 0) return invalid_input("expected leeway >= 0, got {}", leeway);
  const int64_t size = int64_t(character_count(text));
  if (size <= length || size - length <= leeway) return runtime.text(text);
  std::string kept = text.substr(0, character_offset(text, size_t(length - end_size)));
  if (!truth_or(all[1], false)) kept.resize(std::min(kept.rfind(' '), kept.size()));
  return runtime.text(kept + std::string(end));
}

Result<Value> wordcount(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("wordcount", given, {}));
  TOK_TRY(const std::string text, to_str(runtime, input));
  int64_t words = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    const bool in_word = c == '_' || is_alphanumeric(c);
    if (in_word && !inside) ++words;
    inside = in_word;
  }
  return Value::integer(words);
}

Result<Value> format(Runtime& runtime, const Value& input, const Arguments& given) {
  if (!given.positional.empty() && !given.named.empty()) {
    return invalid_input("can't handle positional and keyword arguments at the same time");
  }
  TOK_TRY(const std::string text, to_str(runtime, input));
  Value values;
  if (given.named.empty()) {
    TOK_TRY(values, runtime.sequence(given.positional, Sequence::Form::kTuple));
  } else {
    Dict named;
    for (const auto& [name, value] : given.named) {
      TOK_TRY(const Value key, runtime.text(std::string(name)));
      named.set(key, value);
    }
    TOK_TRY(values, runtime.dict(std::move(named)));
  }
  TOK_TRY(std::string shown, percent_format(runtime, text, values));
  return runtime.text(std::move(shown));
}

/// dump as the reference does: no HTML escapes, letters as they are.
Result<Value> tojson(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all,
          bind("tojson", given, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style{.ascii_only = truth_or(all[0], false), .sort_keys = truth_or(all[3], false)};
  if (all[1].is_text()) {
    style.indent = all[1].as_text();
  } else if (!all[1].is_undefined() && !all[1].is_none()) {
    TOK_TRY(const int64_t width, integer_or(all[1], "indent", 0));
    const size_t size = width > 0 ? size_t(width) : 0;
    TOK_TRY(runtime.check_room(size));
    style.indent = std::string(size, ' ');
  }
  if (style.indent) style.item_separator = ",";
  if (all[2].is_sequence()) {
    const std::vector<Value>& pair = all[2].as_sequence().items;
    if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) {
      return invalid_input("'separators' needs two texts, one between items and one after keys.");
    }
    style.item_separator = pair[0].as_text();
    style.key_separator = pair[1].as_text();
  } else if (!all[2].is_undefined() && !all[2].is_none()) {
    return invalid_input("'separators' is of type {} where a pair of texts is expected.",
                         all[2].type_name());
  }
  TOK_TRY(std::string text, to_json(runtime, input, style));
  return runtime.text(std::move(text));
}

constexpr Filter kFilters[] = {
    {"string", changed<kString>},
    {"safe", changed<kString>},
    {"upper", changed<kUpper>},
    {"lower", changed<kLower>},
    {"capitalize", changed<kCapitalize>},
    {"title", changed<kTitle>},
    {"e", changed<kEscape>},
    {"escape", changed<kEscape>},
    {"forceescape", changed<kEscape>},
    {"urlencode", urlencode},
    {"trim", trim},
    {"replace", replace},
    {"center", center},
    {"indent", indent},
    {"truncate", truncate},
    {"wordcount", wordcount},
    {"format", format},
    {"tojson", tojson},
};

}  // namespace

std::span<const Filter> text_filters() {
  return kFilters;
}

}  // namespace tokamak::jinja
