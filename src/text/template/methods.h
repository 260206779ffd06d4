// The methods of texts, lists, dicts and the other values.
#pragma once
#include <span>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

struct Method {
  std::string_view name;
  Builtin builtin;
};

/// Null when values of this kind have no such method.
const Method* find_method(const Value& object, std::string_view name);

/// The methods of texts: that look at them, that change them, and that cut them.
std::span<const Method> text_query_methods();
std::span<const Method> text_change_methods();
std::span<const Method> text_split_methods();

}  // namespace tokamak::jinja
