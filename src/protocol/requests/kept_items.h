// KeptItems: items of answers to Responses, to which later requests refer by their ids.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tokamak::protocol {

/// Finds an item by its id; nothing where it is not kept.
using FindItem = std::function<std::optional<Json>(std::string_view id)>;

/// The latest items, in memory only: the oldest make room for new ones. Any thread.
class KeptItems {
 public:
  explicit KeptItems(size_t most_bytes) : most_bytes_(most_bytes) {}

  /// `owner`: the only one whose find() gives it. REQUIRES: the item has an id.
  void keep(std::string_view owner, const Json& item);
  std::optional<Json> find(std::string_view owner, std::string_view id) const;

 private:
  struct Kept {
    std::string key, text;
    size_t bytes() const { return key.size() + text.size(); }
  };

  const size_t most_bytes_;
  mutable std::atomic_flag is_busy_;  // for a moment; a page's module has no std::mutex
  std::list<Kept> items_;             // the oldest first
  std::map<std::string, std::list<Kept>::iterator, std::less<>> by_key_;
  size_t bytes_ = 0;
};

}  // namespace tokamak::protocol
