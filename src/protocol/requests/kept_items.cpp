#include "protocol/requests/kept_items.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tokamak::protocol {
namespace {

/// The length keeps apart what the two spell together.
std::string key_of(std::string_view owner, std::string_view id) {
  return fmt::format("{}:{}{}", owner.size(), owner, id);
}

class Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  Lock(const Lock&) = delete;
  ~Lock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void KeptItems::keep(std::string_view owner, const Json& item) {
  Kept kept{key_of(owner, item.find("id")->as_string()), item.dump()};
  const Lock lock(is_busy_);
  if (kept.bytes() > most_bytes_ || by_key_.contains(kept.key)) return;
  bytes_ += kept.bytes();
  items_.push_back(std::move(kept));
  by_key_.emplace(items_.back().key, std::prev(items_.end()));
  while (bytes_ > most_bytes_) {
    bytes_ -= items_.front().bytes();
    by_key_.erase(items_.front().key);
    items_.pop_front();
  }
}

std::optional<Json> KeptItems::find(std::string_view owner, std::string_view id) const {
  const std::string key = key_of(owner, id);
  std::string text;
  {
    const Lock lock(is_busy_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    text = found->second->text;
  }
  return *Json::parse(text);
}

}  // namespace tokamak::protocol
