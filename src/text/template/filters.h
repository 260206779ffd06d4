// The filters and tests of Jinja by name, and the functions every template can call.
//
// Left out, as no chat template prints them: filesizeformat, pprint, random, striptags, urlize,
// wordwrap and xmlattr. Text made `safe` is plain text, since nothing is escaped automatically.
#pragma once
#include <span>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// `self` of a filter is what stands left of "|".
struct Filter {
  std::string_view name;
  Builtin builtin;
};
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> choice_filters();

using Test = Result<bool> (*)(Runtime& runtime, const Value& value, const Arguments& arguments);

/// Null when there is none of that name.
Builtin find_filter(std::string_view name);
Test find_test(std::string_view name);
Builtin find_function(std::string_view name);

/// The same, with an error for an unknown name.
Result<Value> apply_filter(Runtime& runtime, std::string_view name, const Value& input,
                           const Arguments& arguments);
Result<bool> apply_test(Runtime& runtime, std::string_view name, const Value& value,
                        const Arguments& arguments);

/// In front of the message of raise_exception, in the error.
inline constexpr std::string_view kRaisedPrefix = "The template raises an exception: ";

}  // namespace tokamak::jinja
