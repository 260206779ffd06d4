// Sorts the arguments of a call into the parameters of a filter, test, method or function.
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// One value per name, in the order of `names`; undefined where nothing is given. The first
/// `required` must be given. `owner` is how errors call the function.
Result<std::vector<Value>> bind(std::string_view owner, const Arguments& given,
                                std::initializer_list<std::string_view> names, size_t required = 0);

/// The value of one kind; `fallback` when undefined; else an error that names `what`.
Result<std::string_view> text_or(const Value& value, std::string_view what,
                                 std::string_view fallback);
Result<int64_t> integer_or(const Value& value, std::string_view what, int64_t fallback);
bool truth_or(const Value& value, bool fallback);

}  // namespace tokamak::jinja
