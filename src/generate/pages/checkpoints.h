// Which prefixes of sequences a plan holds the states and windows of: the checkpoints of plan.h.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

/// Checkpoints by the tokens before them, each of one tenant. A new one takes the place of the one
/// that was used the longest time ago.
class Checkpoints {
 public:
  explicit Checkpoints(uint32_t count) : places_(count) {}

  struct Found {
    uint32_t number = 0, tokens = 0;
  };
  /// The one after the most tokens that `ids` begins with.
  std::optional<Found> find(std::string_view tenant, std::span<const uint32_t> ids);
  /// The number of a new one, after `ids`; nothing where there is one, or no place.
  std::optional<uint32_t> add(std::string_view tenant, std::span<const uint32_t> ids);
  /// The number of one whose tokens are not known yet: keep() gets them. Nothing without a place.
  std::optional<uint32_t> take();
  void keep(uint32_t number, std::string_view tenant, std::span<const uint32_t> ids);
  /// It is of nothing: the next one takes its place.
  void drop(uint32_t number) { places_[number] = {}; }
  /// Forgets all, as when the device has lost what they held.
  void clear();

 private:
  struct Place {
    std::string tenant;
    std::vector<uint32_t> ids;  // none: it is free
    uint64_t used = 0;
  };

  std::vector<Place> places_;
  uint64_t clock_ = 0;
};

}  // namespace tokamak
