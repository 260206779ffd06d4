// Which places take every character of a JSON string that stands for itself.
#include <algorithm>
#include <array>

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

/// The places of a text after a byte of that range, from any of those places; nothing where one of
/// them may not follow, or leaves what the place belongs to.
std::optional<std::set<uint32_t>> GrammarMasks::after_bytes(const std::set<uint32_t>& places,
                                                            std::pair<uint8_t, uint8_t> range) {
  std::set<uint32_t> next;
  for (const uint32_t place : places) {
    for (uint32_t byte = range.first; byte <= range.second; ++byte) {
      Position after = places_->step({place, GrammarPlaces::kNone}, uint8_t(byte));
      if (after.place == GrammarPlaces::kDead) return {};
      after = places_->settled(after);
      if (after.stack != GrammarPlaces::kNone) return {};
      next.insert(after.place);
    }
  }
  return next;
}

/// Whether the place comes back to itself with each of them, so that it takes all plain tokens.
bool GrammarMasks::is_free(uint32_t place) {
  if (place < free_.size() && free_[place] != Free::kUnknown) return free_[place] == Free::kYes;
  if (free_.size() <= place) free_.resize(place + 1);
  free_[place] = Free::kNo;
  if (places_->place(place).leaves) return false;
  const std::set<uint32_t> here = {place};
  for (const Way& way : kWays) {
    auto at = after_bytes(here, {way.first, way.last});
    for (size_t i = 0; i < way.count && at; ++i) at = after_bytes(*at, way.more[i]);
    if (at != here) return false;
  }
  free_[place] = Free::kYes;
  return true;
}

/// Whether the place, which has the first byte of a character of more than one, is a free one after
/// the others, whichever they are.
bool GrammarMasks::is_free_after_character(uint32_t place, uint8_t first) {
  const auto way = std::ranges::find_if(
      kWays, [&](const Way& one) { return one.first <= first && first <= one.last; });
  if (way == kWays.end() || way->count == 0) return false;
  const uint64_t key = uint64_t{place} << 8 | uint64_t(way - kWays.begin());
  const auto [known, is_new] = free_after_character_.try_emplace(key, false);
  if (!is_new) return known->second;
  std::optional<std::set<uint32_t>> at = std::set<uint32_t>{place};
  for (size_t i = 0; i < way->count && at; ++i) at = after_bytes(*at, way->more[i]);
  const bool is_free_then =
      at && std::ranges::all_of(*at, [&](uint32_t one) { return is_free(one); });
  return free_after_character_[key] = is_free_then;
}

}  // namespace tokamak
