// Methods of texts that give another text.
#include "text/template/text_edits.h"

#include "text/template/arguments.h"
#include "text/template/format.h"
#include "text/template/methods.h"
#include "text/template/print.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// A letter after anything but a letter is upper case, the others lower case.
std::string to_title(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const char32_t c = take_character(text, at);
    const std::string_view character = text.substr(start, at - start);
    out += in_word ? lower_at(text, start, at) : to_upper(character);
    in_word = is_letter(c);
  }
  return out;
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const bool was_upper = is_upper(take_character(text, at));
    const std::string_view character = text.substr(start, at - start);
    out += was_upper ? lower_at(text, start, at) : to_upper(character);
  }
  return out;
}

constexpr TextChange kCasefold{"casefold", fold_case}, kTitle{"title", to_title},
    kSwapcase{"swapcase", swap_case};

template <Side kSide>
Result<Value> strip(Runtime& runtime, const Value& self, const Arguments& given) {
  return strip_text(runtime, "strip", self, given, kSide);
}

Result<Value> replace(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("replace", given, {"old", "new", "count"}, 2));
  TOK_TRY(const std::string_view old, text_or(all[0], "old", ""));
  TOK_TRY(const std::string_view with, text_or(all[1], "new", ""));
  TOK_TRY(const int64_t count, integer_or(all[2], "count", -1));
  return replace_text(runtime, self.as_text(), old, with, count);
}

template <bool kPrefix>
Result<Value> remove_affix(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("removeprefix", given, {"affix"}, 1));
  TOK_TRY(const std::string_view affix, text_or(all[0], "affix", ""));
  std::string_view text = self.as_text();
  if (kPrefix && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!kPrefix && text.ends_with(affix)) text.remove_suffix(affix.size());
  return runtime.text(std::string(text));
}

/// Characters that `text` lacks to `width`, after a check that they fit.
Result<size_t> missing_characters(Runtime& runtime, std::string_view text, int64_t width,
                                  std::string_view fill) {
  TOK_TRY(runtime.spend_reading(text.size()));
  if (character_count(fill) != 1) {
    return invalid_input("The fill character must be exactly one character long");
  }
  const int64_t size = int64_t(character_count(text));
  if (width <= size) return size_t{0};
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(uint64_t(width), fill.size(), &bytes)) bytes = UINT64_MAX;
  TOK_TRY(runtime.check_room(bytes));
  TOK_TRY(runtime.spend_reading(bytes));
  return size_t(width - size);
}

std::string times(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

template <bool kLeft>
Result<Value> justify(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("ljust", given, {"width", "fillchar"}, 1));
  TOK_TRY(const int64_t width, integer_or(all[0], "width", 0));
  TOK_TRY(const std::string_view fill, text_or(all[1], "fillchar", " "));
  TOK_TRY(const size_t missing, missing_characters(runtime, self.as_text(), width, fill));
  const std::string filling = times(fill, missing);
  return runtime.text(kLeft ? self.as_text() + filling : filling + self.as_text());
}

Result<Value> center(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("center", given, {"width", "fillchar"}, 1));
  TOK_TRY(const int64_t width, integer_or(all[0], "width", 0));
  TOK_TRY(const std::string_view fill, text_or(all[1], "fillchar", " "));
  return center_text(runtime, self.as_text(), width, fill);
}

Result<Value> zfill(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("zfill", given, {"width"}, 1));
  TOK_TRY(const int64_t width, integer_or(all[0], "width", 0));
  const std::string& text = self.as_text();
  TOK_TRY(const size_t missing, missing_characters(runtime, text, width, "0"));
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  return runtime.text(text.substr(0, sign) + std::string(missing, '0') + text.substr(sign));
}

Result<Value> format(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(std::string text, brace_format(runtime, self.as_text(), given));
  return runtime.text(std::move(text));
}

Result<Value> expandtabs(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("expandtabs", given, {"tabsize"}));
  TOK_TRY(const int64_t size, integer_or(all[0], "tabsize", 8));
  if (size < 0 || size > 1000) return invalid_input("A tab size of {} is not supported.", size);
  TOK_TRY(runtime.check_room(self.as_text().size() * uint64_t(size)));
  TOK_TRY(runtime.spend_reading(self.as_text().size() * (uint64_t(size) + 1)));
  std::string out;
  size_t column = 0;
  const std::string_view text = self.as_text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = next_character(text, at);
    if (text[at] == '\t') {
      const size_t spaces = size == 0 ? 0 : size_t(size) - column % size_t(size);
      out.append(spaces, ' ');
      column += spaces;
    } else {
      out += text.substr(at, end - at);
      column = text[at] == '\n' || text[at] == '\r' ? 0 : column + 1;
    }
    at = end;
  }
  return runtime.text(std::move(out));
}

constexpr Method kMethods[] = {
    {"upper", changed<kUpper>},
    {"lower", changed<kLower>},
    {"casefold", changed<kCasefold>},
    {"capitalize", changed<kCapitalize>},
    {"title", changed<kTitle>},
    {"swapcase", changed<kSwapcase>},
    {"strip", strip<Side::kBoth>},
    {"lstrip", strip<Side::kLeft>},
    {"rstrip", strip<Side::kRight>},
    {"replace", replace},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"ljust", justify<true>},
    {"rjust", justify<false>},
    {"center", center},
    {"zfill", zfill},
    {"format", format},
    {"expandtabs", expandtabs},
};

}  // namespace

std::span<const Method> text_change_methods() {
  return kMethods;
}

Result<Value> apply_change(Runtime& runtime, const Value& input, const Arguments& given,
                           const TextChange& change) {
  TOK_TRY(bind(change.name, given, {}));
  TOK_TRY(const std::string text, to_str(runtime, input));
  TOK_TRY(runtime.check_room(text.size() * 6));
  return runtime.text(change.change(text));
}

Result<Value> strip_text(Runtime& runtime, std::string_view owner, const Value& input,
                         const Arguments& given, Side side) {
  TOK_TRY(const auto all, bind(owner, given, {"chars"}));
  TOK_TRY(const std::string text, to_str(runtime, input));
  if (all[0].is_undefined() || all[0].is_none()) {
    return runtime.text(std::string(strip_spaces(text, side)));
  }
  TOK_TRY(const std::string_view characters, text_or(all[0], "chars", ""));
  TOK_TRY(runtime.spend_steps(1 + text.size() / 16 + text.size() * characters.size() / 64));
  return runtime.text(std::string(strip_characters(text, characters, side)));
}

std::string capitalize(std::string_view text) {
  const size_t first = text.empty() ? 0 : next_character(text, 0);
  const std::string lower = to_lower(text);
  return to_upper(text.substr(0, first)) + lower.substr(to_lower(text.substr(0, first)).size());
}

Result<Value> replace_text(Runtime& runtime, std::string_view text, std::string_view old,
                           std::string_view with, int64_t count) {
  TOK_TRY(runtime.spend_searching(text.size(), old.size()));
  std::string out;
  size_t at = 0;
  for (int64_t done = 0; count < 0 || done < count; ++done) {
    const size_t found = text.find(old, at);
    if (found == text.npos) break;
    TOK_TRY(runtime.check_room(out.size() + with.size() + text.size()));
    TOK_TRY(runtime.spend_reading(with.size()));
    out += text.substr(at, found - at);
    out += with;
    at = found + old.size();
    if (old.empty()) {  // between all characters, and at both ends
      if (at == text.size()) break;
      const size_t next = next_character(text, at);
      out += text.substr(at, next - at);
      at = next;
    }
  }
  out += text.substr(at);
  return runtime.text(std::move(out));
}

Result<Value> center_text(Runtime& runtime, std::string_view text, int64_t width,
                          std::string_view fill) {
  TOK_TRY(const size_t missing, missing_characters(runtime, text, width, fill));
  const size_t left = missing / 2 + (missing & size_t(width) & 1);
  return runtime.text(times(fill, left) + std::string(text) + times(fill, missing - left));
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const char32_t c = take_character(text, at);
    const bool ends = (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    if (!ends) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(start, (keep_ends ? at : end) - start));
    start = at;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

}  // namespace tokamak::jinja
