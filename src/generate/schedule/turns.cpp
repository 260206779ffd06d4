#include "generate/schedule/turns.h"

#include <tuple>

#include "base/check.h"

namespace tokamak {
namespace {

std::pair<int64_t, uint64_t> place_of(const Turns::Ticket& ticket) {
  return {-int64_t{ticket.priority}, ticket.number};
}

}  // namespace

Turns::GroupKey Turns::key_of(const Ticket& ticket) {
  return {ticket.group, ticket.group == 0 ? ticket.number : 0};
}

void Turns::add(const Ticket& ticket) {
  tenants_[ticket.tenant].groups[key_of(ticket)].waiting.insert(place_of(ticket));
}

std::optional<uint64_t> Turns::next() const {
  std::optional<std::tuple<int64_t, uint32_t, uint32_t, uint64_t>> best;
  for (const auto& [name, tenant] : tenants_) {
    for (const auto& [key, group] : tenant.groups) {
      if (group.waiting.empty()) continue;
      const auto& [priority, number] = *group.waiting.begin();
      const std::tuple own(priority, tenant.running, group.running, number);
      if (!best || own < *best) best = own;
    }
  }
  if (!best) return std::nullopt;
  return std::get<3>(*best);
}

void Turns::start(const Ticket& ticket) {
  Group& group = group_of(ticket);
  TOK_CHECK(group.waiting.erase(place_of(ticket)) == 1);
  ++group.running;
  ++tenants_.at(ticket.tenant).running;
}

void Turns::stop(const Ticket& ticket) {
  Group& group = group_of(ticket);
  TOK_CHECK(group.running > 0);
  --group.running;
  --tenants_.at(ticket.tenant).running;
  group.waiting.insert(place_of(ticket));
}

void Turns::remove(const Ticket& ticket) {
  Group& group = group_of(ticket);
  TOK_CHECK(group.waiting.erase(place_of(ticket)) == 1);
  if (!group.waiting.empty() || group.running > 0) return;
  auto& groups = tenants_.at(ticket.tenant).groups;
  groups.erase(key_of(ticket));
  if (groups.empty()) tenants_.erase(ticket.tenant);
}

}  // namespace tokamak
