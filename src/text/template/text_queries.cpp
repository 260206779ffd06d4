// Methods of texts that answer something about them.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/methods.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// The part of `text` between two positions counted in characters, as the search methods take them.
struct Part {
  std::string_view text;
  int64_t first = 0;    // characters before it
  bool is_real = true;  // false when it begins after the end
};

Result<Part> part_of(std::string_view text, const Value& from, const Value& to) {
  if (from.is_undefined() && to.is_undefined()) return Part{text, 0, true};
  const int64_t size = int64_t(character_count(text));
  TOK_TRY(int64_t begin, integer_or(from.is_none() ? Value() : from, "start", 0));
  TOK_TRY(int64_t end, integer_or(to.is_none() ? Value() : to, "end", size));
  begin = begin < 0 ? std::max<int64_t>(begin + size, 0) : begin;
  end = std::clamp<int64_t>(end < 0 ? end + size : end, 0, size);
  if (begin > end) return Part{text.substr(0, 0), begin, false};
  const size_t offset = character_offset(text, size_t(begin));
  const std::string_view rest = text.substr(offset);
  return Part{rest.substr(0, character_offset(rest, size_t(end - begin))), begin, true};
}

Result<Value> matches_end(Runtime& runtime, std::string_view owner, const Value& self,
                          const Arguments& given, bool at_start) {
  TOK_TRY(const auto all, bind(owner, given, {"prefix", "start", "end"}, 1));
  TOK_TRY(runtime.spend_reading(self.as_text().size()));
  TOK_TRY(const Part part, part_of(self.as_text(), all[1], all[2]));
  std::vector<Value> wanted = {all[0]};
  if (all[0].is_sequence() && all[0].as_sequence().is_tuple()) wanted = all[0].as_sequence().items;
  for (const Value& one : wanted) {
    if (!one.is_text()) {
      return invalid_input("{} first arg must be str or a tuple of str, not {}", owner,
                           one.type_name());
    }
    const bool found =
        at_start ? part.text.starts_with(one.as_text()) : part.text.ends_with(one.as_text());
    if (found && part.is_real) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> startswith(Runtime& runtime, const Value& self, const Arguments& given) {
  return matches_end(runtime, "startswith", self, given, true);
}

Result<Value> endswith(Runtime& runtime, const Value& self, const Arguments& given) {
  return matches_end(runtime, "endswith", self, given, false);
}

/// The position in characters, or -1.
Result<int64_t> find_position(Runtime& runtime, std::string_view owner, const Value& self,
                              const Arguments& given, bool from_end) {
  TOK_TRY(const auto all, bind(owner, given, {"sub", "start", "end"}, 1));
  TOK_TRY(const std::string_view wanted, text_or(all[0], "sub", ""));
  TOK_TRY(runtime.spend_searching(self.as_text().size(), wanted.size()));
  TOK_TRY(const Part part, part_of(self.as_text(), all[1], all[2]));
  if (!part.is_real) return -1;
  const size_t at = from_end ? part.text.rfind(wanted) : part.text.find(wanted);
  if (at == part.text.npos) return -1;
  return part.first + int64_t(character_count(part.text.substr(0, at)));
}

template <bool kFromEnd, bool kMustBe>
Result<Value> find(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const int64_t at, find_position(runtime, "find", self, given, kFromEnd));
  if (kMustBe && at < 0) return invalid_input("substring not found");
  return Value::integer(at);
}

Result<Value> count(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("count", given, {"sub", "start", "end"}, 1));
  TOK_TRY(const std::string_view wanted, text_or(all[0], "sub", ""));
  TOK_TRY(runtime.spend_searching(self.as_text().size(), wanted.size()));
  TOK_TRY(const Part part, part_of(self.as_text(), all[1], all[2]));
  if (!part.is_real) return Value::integer(0);
  if (wanted.empty()) return Value::integer(int64_t(character_count(part.text)) + 1);
  int64_t found = 0;
  for (size_t at = part.text.find(wanted); at != part.text.npos;
       at = part.text.find(wanted, at + wanted.size())) {
    ++found;
  }
  return Value::integer(found);
}

template <bool (*kHolds)(char32_t)>
Result<Value> all_characters(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(bind("is...", given, {}));
  const std::string_view text = self.as_text();
  TOK_TRY(runtime.spend_reading(text.size()));
  for (size_t at = 0; at < text.size();) {
    if (!kHolds(take_character(text, at))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

bool is_ascii(char32_t c) {
  return c < 0x80;
}

/// Whether there is a cased letter and none of the other case.
template <bool kUpper>
Result<Value> is_cased(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(bind("is...", given, {}));
  const std::string_view text = self.as_text();
  TOK_TRY(runtime.spend_reading(text.size()));
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    if (kUpper ? is_lower(c) : is_upper(c)) return Value::boolean(false);
    found = found || (kUpper ? is_upper(c) : is_lower(c));
  }
  return Value::boolean(found);
}

Result<Value> is_ascii_text(Runtime& runtime, const Value& self, const Arguments& given) {
  if (self.as_text().empty()) return Value::boolean(true);
  return all_characters<is_ascii>(runtime, self, given);
}

constexpr Method kMethods[] = {
    {"startswith", startswith},
    {"endswith", endswith},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"count", count},
    {"isalpha", all_characters<is_letter>},
    {"isalnum", all_characters<is_alphanumeric>},
    {"isdigit", all_characters<is_digit>},
    {"isdecimal", all_characters<is_decimal_digit>},
    {"isnumeric", all_characters<is_numeric>},
    {"isspace", all_characters<is_space>},
    {"isascii", is_ascii_text},
    {"isupper", is_cased<true>},
    {"islower", is_cased<false>},
};

}  // namespace

std::span<const Method> text_query_methods() {
  return kMethods;
}

}  // namespace tokamak::jinja
