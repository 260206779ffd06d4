// A set of byte strings, each with a number, that finds those which start a text.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer/u64_map.h"

namespace tokamak {

class ByteTrie {
 public:
  struct Found {
    uint32_t value;
    size_t bytes;
  };

  /// Keeps the first value of equal strings. The empty string is left out.
  void add(std::string_view key, uint32_t value) {
    if (key.empty()) return;
    starts_[uint8_t(key[0])] = true;
    uint32_t node = 0;
    for (const char c : key) {
      const uint64_t edge = edge_key(node, c);
      const uint64_t* child = edges_.find(edge);
      if (child != nullptr) {
        node = uint32_t(*child);
      } else {
        node = uint32_t(values_.size());
        values_.push_back(kNoValue);
        edges_.set(edge, node);
      }
    }
    if (values_[node] == kNoValue) values_[node] = value;
  }

  /// Calls visit(Found) for every string that starts `text`, shortest first.
  template <typename Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    if (text.empty() || !starts_[uint8_t(text[0])]) return;
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const uint64_t* child = edges_.find(edge_key(node, text[i]));
      if (child == nullptr) return;
      node = uint32_t(*child);
      if (values_[node] != kNoValue) visit(Found{uint32_t(values_[node]), i + 1});
    }
  }

  std::optional<Found> longest_prefix(std::string_view text) const {
    std::optional<Found> longest;
    each_prefix(text, [&](Found found) { longest = found; });
    return longest;
  }

  bool empty() const { return values_.size() == 1; }

 private:
  static constexpr uint64_t kNoValue = ~uint64_t{0};
  static uint64_t edge_key(uint32_t node, char c) { return uint64_t{node} << 8 | uint8_t(c); }

  U64Map edges_;
  std::vector<uint64_t> values_ = {kNoValue};  // by node; node 0 is the root
  std::array<bool, 256> starts_{};
};

}  // namespace tokamak
