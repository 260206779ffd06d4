// Ordering items by keys, as the filters sort, unique, min, max, groupby and dictsort do.
#pragma once
#include <vector>

#include "text/template/runtime.h"

namespace tokamak::jinja {

struct Keyed {
  Value key;
  Value item;
};

/// The keys by `attribute` of each item (the item itself when undefined or none); texts in lower
/// case unless `case_sensitive`. Several attributes with commas between them give a list of keys.
Result<std::vector<Keyed>> with_keys(Runtime& runtime, std::span<const Value> items,
                                     const Value& attribute, bool case_sensitive);

/// Equal keys keep their order, also when `reverse`.
Result<void> sort_by_key(Runtime& runtime, std::vector<Keyed>& items, bool reverse);

}  // namespace tokamak::jinja
