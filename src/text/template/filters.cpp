#include "text/template/filters.h"

#include <algorithm>

namespace tokamak::jinja {

Builtin find_filter(std::string_view name) {
  for (const auto& filters :
       {text_filters(), number_filters(), sequence_filters(), choice_filters()}) {
    const auto found = std::ranges::find(filters, name, &Filter::name);
    if (found != filters.end()) return found->builtin;
  }
  return nullptr;
}

Result<Value> apply_filter(Runtime& runtime, std::string_view name, const Value& input,
                           const Arguments& arguments) {
  const Builtin filter = find_filter(name);
  if (filter == nullptr) return invalid_input("No filter is named '{}'.", name);
  return filter(runtime, input, arguments);
}

Result<bool> apply_test(Runtime& runtime, std::string_view name, const Value& value,
                        const Arguments& arguments) {
  const Test test = find_test(name);
  if (test == nullptr) return invalid_input("No test is named '{}'.", name);
  return test(runtime, value, arguments);
}

}  // namespace tokamak::jinja
