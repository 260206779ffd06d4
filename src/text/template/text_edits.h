// Changes of texts that are both a method and a filter.
#pragma once
#include <string>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// `count` replacements at most; all when negative.
Result<Value> replace_text(Runtime& runtime, std::string_view text, std::string_view old,
                           std::string_view with, int64_t count);

/// The first character upper case, the others lower case.
std::string capitalize(std::string_view text);

/// `text` in the middle of `width` characters: the odd space stands where str.center puts it.
Result<Value> center_text(Runtime& runtime, std::string_view text, int64_t width,
                          std::string_view fill);

/// The lines, without their ends unless `keep_ends`.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

/// Spends what stripping `characters` from `text` may take.
Result<void> spend_stripping(Runtime& runtime, std::string_view text, std::string_view characters);

}  // namespace tokamak::jinja
