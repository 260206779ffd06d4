// `x.name`, `x[index]` and `x[a:b:c]`.
//
// The order is Jinja's: `x.items` looks for a method first and for the key "items" of a dict
// second; `x['items']` the other way round. What is not there is undefined; looking inside
// something undefined is an error.
#pragma once
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

Result<Value> get_attribute(Runtime& runtime, const Value& object, std::string_view name);
Result<Value> get_item(Runtime& runtime, const Value& object, const Value& index);

/// The parts may be none, for "from the start" and so on.
Result<Value> get_slice(Runtime& runtime, const Value& object, const Value& start,
                        const Value& stop, const Value& step);

/// Looks up a filter's `attribute='a.b.0'` in `object`; `fallback`, when there is one, in the place
/// of whatever is undefined on the way.
Result<Value> get_path(Runtime& runtime, const Value& object, const Value& path,
                       const Value* fallback = nullptr);

}  // namespace tokamak::jinja
