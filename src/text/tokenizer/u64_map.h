// A hash map from 64-bit keys to 64-bit values, by open addressing, without erase.
//
// Keys come from strangers' files, who may choose them so that all want the same slot. Only some
// slots are therefore looked at; a key that finds none of them free is kept in order instead, where
// no choice of keys makes the search long.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tokamak {

class U64Map {
 public:
  /// Not a key that may be stored.
  static constexpr uint64_t kNoKey = ~uint64_t{0};

  void reserve(size_t count) {
    const size_t wanted = std::bit_ceil(count + count / 2 + 16);
    if (wanted > slots_.size()) rehash(wanted);
  }

  /// Stores or replaces.
  void set(uint64_t key, uint64_t value) {
    reserve(size_ + 1);
    if (find(key) == nullptr) ++size_;
    store(key, value);
  }

  /// Asks for the memory that set(key) is going to need.
  void prefetch(uint64_t key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[first_slot(key)], 1);
  }

  /// Null when absent; valid until the next set().
  const uint64_t* find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    if (const size_t at = locate(key); at != slots_.size()) {
      return slots_[at].key == key ? &slots_[at].value : nullptr;
    }
    const auto found = crowded_out_.find(key);
    return found == crowded_out_.end() ? nullptr : &found->second;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = kNoKey;
    uint64_t value = 0;
  };

  size_t first_slot(uint64_t key) const {
    const uint64_t mixed = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    return size_t(mixed >> 20) & (slots_.size() - 1);
  }

  /// The slot of `key`, or the free one that it gets; slots_.size() when there is neither near the
  /// first.
  size_t locate(uint64_t key) const {
    size_t at = first_slot(key);
    for (size_t probes = 0; probes < kMaxProbes; ++probes) {
      if (slots_[at].key == key || slots_[at].key == kNoKey) return at;
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_.size();
  }

  void store(uint64_t key, uint64_t value) {
    const size_t at = locate(key);
    if (at == slots_.size()) {
      crowded_out_[key] = value;
    } else {
      slots_[at] = {key, value};
    }
  }

  void rehash(size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    const std::map<uint64_t, uint64_t> old_crowded_out = std::exchange(crowded_out_, {});
    for (const Slot& slot : old) {
      if (slot.key != kNoKey) store(slot.key, slot.value);
    }
    for (const auto& [key, value] : old_crowded_out) store(key, value);
  }

  static constexpr size_t kMaxProbes = 64;

  std::vector<Slot> slots_;
  std::map<uint64_t, uint64_t> crowded_out_;
  size_t size_ = 0;
};

}  // namespace tokamak
