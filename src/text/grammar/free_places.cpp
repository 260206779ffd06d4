// Which places take every character of a JSON string that stands for itself.
#include <array>
#include <set>

#include "text/grammar/masks.h"

namespace tokamak {
namespace {

/// Bytes of such characters in UTF-8: the first, and those that follow.
struct Way {
  uint8_t first, last;
  std::array<std::pair<uint8_t, uint8_t>, 3> more;
  size_t count;
};
constexpr std::pair<uint8_t, uint8_t> kAny = {0x80, 0xBF};
constexpr std::array<Way, 11> kWays = {{{0x20, 0x21, {}, 0},
                                        {0x23, 0x5B, {}, 0},
                                        {0x5D, 0x7F, {}, 0},
                                        {0xC2, 0xDF, {{kAny}}, 1},
                                        {0xE0, 0xE0, {{{0xA0, 0xBF}, kAny}}, 2},
                                        {0xE1, 0xEC, {{kAny, kAny}}, 2},
                                        {0xED, 0xED, {{{0x80, 0x9F}, kAny}}, 2},
                                        {0xEE, 0xEF, {{kAny, kAny}}, 2},
                                        {0xF0, 0xF0, {{{0x90, 0xBF}, kAny, kAny}}, 3},
                                        {0xF1, 0xF3, {{kAny, kAny, kAny}}, 3},
                                        {0xF4, 0xF4, {{{0x80, 0x8F}, kAny, kAny}}, 3}}};

}  // namespace

/// Whether the place comes back to itself with each of them, so that it takes all plain tokens.
bool GrammarMasks::is_free(uint32_t place) {
  if (place < free_.size() && free_[place] != Free::kUnknown) return free_[place] == Free::kYes;
  if (free_.size() <= place) free_.resize(place + 1);
  free_[place] = Free::kNo;
  if (places_->place(place).leaves) return false;
  const Position here = {place, GrammarPlaces::kNone};
  for (const Way& way : kWays) {
    std::set<uint32_t> at = {place};
    for (size_t i = 0; i <= way.count; ++i) {
      const auto [first, last] = i == 0 ? std::pair(way.first, way.last) : way.more[i - 1];
      std::set<uint32_t> next;
      for (const uint32_t one : at) {
        for (uint32_t byte = first; byte <= last; ++byte) {
          Position after = places_->step({one, GrammarPlaces::kNone}, uint8_t(byte));
          if (after.place == GrammarPlaces::kDead) return false;
          after = places_->settled(after);
          if (after.stack != GrammarPlaces::kNone) return false;
          if (i == way.count && after != here) return false;
          next.insert(after.place);
        }
      }
      at = std::move(next);
    }
  }
  free_[place] = Free::kYes;
  return true;
}

}  // namespace tokamak
