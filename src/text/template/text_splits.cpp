// Methods of texts that cut them into lists, and the one that joins lists.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/methods.h"
#include "text/template/print.h"
#include "text/template/text_edits.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

Result<Value> list_of(Runtime& runtime, const std::vector<std::string_view>& parts,
                      Sequence::Form form = Sequence::Form::kList) {
  TOK_TRY(runtime.check_room(parts.size() * (sizeof(std::string) + sizeof(Value))));
  std::vector<Value> items;
  for (const std::string_view part : parts) {
    TOK_TRY(const Value item, runtime.text(std::string(part)));
    items.push_back(item);
  }
  return runtime.sequence(std::move(items), form);
}

/// Words between whitespace, at most `limit` cuts; what is not cut keeps its spaces.
std::vector<std::string_view> words_from_left(std::string_view text, int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip_spaces(text, Side::kLeft);
  while (!text.empty()) {
    if (limit >= 0 && int64_t(parts.size()) == limit) {
      parts.push_back(text);
      break;
    }
    size_t end = 0;
    for (size_t next = 0; next < text.size(); end = next) {
      if (is_space(take_character(text, next))) break;
    }
    parts.push_back(text.substr(0, end));
    text = strip_spaces(text.substr(end), Side::kLeft);
  }
  return parts;
}

std::vector<std::string_view> words_from_right(std::string_view text, int64_t limit) {
  std::vector<std::string_view> words = words_from_left(text, -1);
  if (limit < 0 || int64_t(words.size()) <= limit + 1) return words;
  // All words before the cuts are one part, with the spaces between them and at the left.
  const size_t first_cut = words.size() - size_t(limit);
  const std::string_view& last = words[first_cut - 1];
  const std::string_view head(text.data(), size_t(last.data() + last.size() - text.data()));
  words.erase(words.begin(), words.begin() + std::ptrdiff_t(first_cut));
  words.insert(words.begin(), head);
  return words;
}

std::vector<std::string_view> parts_from_left(std::string_view text, std::string_view separator,
                                              int64_t limit) {
  std::vector<std::string_view> parts;
  while (limit < 0 || int64_t(parts.size()) < limit) {
    const size_t at = text.find(separator);
    if (at == text.npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> parts_from_right(std::string_view text, std::string_view separator,
                                               int64_t limit) {
  std::vector<std::string_view> parts;
  while (limit < 0 || int64_t(parts.size()) < limit) {
    const size_t at = text.rfind(separator);
    if (at == text.npos) break;
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::ranges::reverse(parts);
  return parts;
}

template <bool kFromLeft>
Result<Value> split(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("split", given, {"sep", "maxsplit"}));
  TOK_TRY(const int64_t limit, integer_or(all[1], "maxsplit", -1));
  const std::string_view text = self.as_text();
  const bool by_space = all[0].is_undefined() || all[0].is_none();
  TOK_TRY(const std::string_view separator, text_or(by_space ? Value() : all[0], "sep", ""));
  if (!by_space && separator.empty()) return invalid_input("empty separator");
  TOK_TRY(runtime.spend_searching(text.size(), separator.size()));
  TOK_TRY(runtime.check_room(text.size() * sizeof(std::string_view)));
  if (by_space) {
    return list_of(runtime,
                   kFromLeft ? words_from_left(text, limit) : words_from_right(text, limit));
  }
  return list_of(runtime, kFromLeft ? parts_from_left(text, separator, limit)
                                    : parts_from_right(text, separator, limit));
}

template <bool kFromLeft>
Result<Value> partition(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("partition", given, {"sep"}, 1));
  TOK_TRY(const std::string_view separator, text_or(all[0], "sep", ""));
  if (separator.empty()) return invalid_input("empty separator");
  const std::string_view text = self.as_text();
  TOK_TRY(runtime.spend_searching(text.size(), separator.size()));
  const size_t at = kFromLeft ? text.find(separator) : text.rfind(separator);
  std::vector<std::string_view> parts = {text.substr(0, at), separator, ""};
  if (at == text.npos) {
    parts = kFromLeft ? std::vector<std::string_view>{text, "", ""}
                      : std::vector<std::string_view>{"", "", text};
  } else {
    parts[2] = text.substr(at + separator.size());
  }
  return list_of(runtime, parts, Sequence::Form::kTuple);
}

Result<Value> splitlines(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("splitlines", given, {"keepends"}));
  TOK_TRY(runtime.spend_reading(self.as_text().size()));
  TOK_TRY(runtime.check_room(self.as_text().size() * sizeof(std::string_view)));
  return list_of(runtime, split_lines(self.as_text(), truth_or(all[0], false)));
}

Result<Value> join(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("join", given, {"iterable"}, 1));
  TOK_TRY(const auto items, runtime.iterate(all[0]));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_text()) {
      return invalid_input("sequence item {}: expected str instance, {} found", i,
                           items[i].type_name());
    }
    TOK_TRY(runtime.check_room(out.size() + self.as_text().size() + items[i].as_text().size()));
    TOK_TRY(runtime.spend_reading(self.as_text().size() + items[i].as_text().size()));
    if (i > 0) out += self.as_text();
    out += items[i].as_text();
  }
  return runtime.text(std::move(out));
}

constexpr Method kMethods[] = {
    {"split", split<true>},           {"rsplit", split<false>},   {"partition", partition<true>},
    {"rpartition", partition<false>}, {"splitlines", splitlines}, {"join", join},
};

}  // namespace

std::span<const Method> text_split_methods() {
  return kMethods;
}

}  // namespace tokamak::jinja
