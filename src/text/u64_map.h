// A hash map from 64-bit keys to 64-bit values, by open addressing: one allocation, no erase.
#pragma once
#include <bit>
#include <cstdint>
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
    Slot& slot = slots_[locate(key)];
    if (slot.key == kNoKey) ++size_;
    slot = {key, value};
  }

  /// Asks for the memory that set(key) is going to need.
  void prefetch(uint64_t key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[first_slot(key)], 1);
  }

  /// Null when absent; valid until the next set().
  const uint64_t* find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[locate(key)];
    return slot.key == key ? &slot.value : nullptr;
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

  size_t locate(uint64_t key) const {
    size_t at = first_slot(key);
    while (slots_[at].key != key && slots_[at].key != kNoKey) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void rehash(size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kNoKey) slots_[locate(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace tokamak
