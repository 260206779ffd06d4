// Python's two ways of formatting text: "%05.1f" % x and "{:>8}".format(x).
#pragma once
#include <string>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// `values` is a tuple, a dict for "%(name)s", or the one value.
Result<std::string> percent_format(Runtime& runtime, std::string_view format, const Value& values);

Result<std::string> brace_format(Runtime& runtime, std::string_view format,
                                 const Arguments& arguments);

}  // namespace tokamak::jinja
