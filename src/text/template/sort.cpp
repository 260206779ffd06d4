#include "text/template/sort.h"

#include <algorithm>

#include "text/template/attributes.h"
#include "text/template/operators.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

Result<Value> fold_case(Runtime& runtime, const Value& key, bool case_sensitive) {
  if (case_sensitive || !key.is_text()) return key;
  TOK_TRY(runtime.spend_reading(key.as_text().size()));
  return runtime.text(to_lower(key.as_text()));
}

Result<Value> key_of(Runtime& runtime, const Value& item, const Value& attribute,
                     bool case_sensitive) {
  if (attribute.is_undefined() || attribute.is_none()) {
    return fold_case(runtime, item, case_sensitive);
  }
  if (!attribute.is_text() || attribute.as_text().find(',') == std::string::npos) {
    TOK_TRY(const Value found, get_path(runtime, item, attribute));
    return fold_case(runtime, found, case_sensitive);
  }
  std::vector<Value> keys;
  std::string_view rest = attribute.as_text();
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string path(rest.substr(0, comma));
    TOK_TRY(const Value found, get_path(runtime, item, Value::text(&path)));
    TOK_TRY(const Value key, fold_case(runtime, found, case_sensitive));
    keys.push_back(key);
    if (comma == rest.size()) return runtime.sequence(std::move(keys));
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<Keyed>> with_keys(Runtime& runtime, std::span<const Value> items,
                                     const Value& attribute, bool case_sensitive) {
  TOK_TRY(runtime.check_room(items.size() * sizeof(Keyed)));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    TOK_TRY(const Value key, key_of(runtime, item, attribute, case_sensitive));
    keyed.push_back({key, item});
  }
  return keyed;
}

// A merge sort of our own: comparing two values can fail, which std::stable_sort cannot report.
Result<void> sort_by_key(Runtime& runtime, std::vector<Keyed>& items, bool reverse) {
  std::vector<Keyed> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t start = 0; start < items.size(); start += 2 * width) {
      const size_t middle = std::min(start + width, items.size());
      const size_t end = std::min(start + 2 * width, items.size());
      size_t left = start;
      size_t right = middle;
      for (size_t out = start; out < end; ++out) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          TOK_TRY(const auto found, reverse ? order(runtime, items[left].key, items[right].key)
                                            : order(runtime, items[right].key, items[left].key));
          take_right = found < 0;
        }
        merged[out] = take_right ? items[right++] : items[left++];
      }
    }
    std::swap(items, merged);
  }
  return {};
}

}  // namespace tokamak::jinja
