// Changes of texts that are both a method and a filter.
#pragma once
#include <string>
#include <string_view>

#include "text/template/runtime.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {

/// `count` replacements at most; all when negative.
Result<Value> replace_text(Runtime& runtime, std::string_view text, std::string_view old,
                           std::string_view with, int64_t count);

/// Without `chars`, the argument, or without spaces; errors say `owner`.
Result<Value> strip_text(Runtime& runtime, std::string_view owner, const Value& input,
                         const Arguments& given, Side side);

/// The first character upper case, the others lower case.
std::string capitalize(std::string_view text);

/// A change without arguments: `input` is a text, or printed first.
struct TextChange {
  std::string_view name;
  std::string (*change)(std::string_view);
};
Result<Value> apply_change(Runtime& runtime, const Value& input, const Arguments& given,
                           const TextChange& change);

/// For the tables of methods and of filters.
template <const TextChange& kChange>
Result<Value> changed(Runtime& runtime, const Value& input, const Arguments& given) {
  return apply_change(runtime, input, given, kChange);
}

inline constexpr TextChange kUpper{"upper", to_upper}, kLower{"lower", to_lower},
    kCapitalize{"capitalize", capitalize};

/// `text` in the middle of `width` characters: the odd space stands where str.center puts it.
Result<Value> center_text(Runtime& runtime, std::string_view text, int64_t width,
                          std::string_view fill);

/// The lines, without their ends unless `keep_ends`.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

}  // namespace tokamak::jinja
