#include "generate/pages/checkpoints.h"

#include <algorithm>

namespace tokamak {

std::optional<Checkpoints::Found> Checkpoints::find(std::string_view tenant,
                                                    std::span<const uint32_t> ids) {
  std::optional<Found> best;
  for (uint32_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const auto tokens = uint32_t(place.ids.size());
    if (tokens <= (best ? best->tokens : 0) || tokens > ids.size()) continue;
    if (place.tenant != tenant || !std::ranges::equal(place.ids, ids.first(tokens))) continue;
    best = Found{i, tokens};
  }
  if (best) places_[best->number].used = ++clock_;
  return best;
}

std::optional<uint32_t> Checkpoints::add(std::string_view tenant, std::span<const uint32_t> ids) {
  if (ids.empty()) return std::nullopt;
  const std::optional<Found> known = find(tenant, ids);
  if (known && known->tokens == ids.size()) return std::nullopt;
  const std::optional<uint32_t> number = take();
  if (number) keep(*number, tenant, ids);
  return number;
}

std::optional<uint32_t> Checkpoints::take() {
  if (places_.empty()) return std::nullopt;
  const auto oldest = std::ranges::min_element(places_, {}, &Place::used);
  *oldest = {.tenant = {}, .ids = {}, .used = ++clock_};
  return uint32_t(oldest - places_.begin());
}

void Checkpoints::keep(uint32_t number, std::string_view tenant, std::span<const uint32_t> ids) {
  places_[number].tenant = tenant;
  places_[number].ids.assign(ids.begin(), ids.end());
}

void Checkpoints::clear() {
  std::ranges::fill(places_, Place());
}

}  // namespace tokamak
