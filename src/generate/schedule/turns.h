// Turns: in which order requests are given slots.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tokamak {

/// Requests that wait or run, by tenant and group. The highest priority goes first; of equals the
/// tenant with the fewest running, then the group of it with the fewest running, then the one that
/// came first: a call of a hundred choices does not keep the next call waiting for all of them.
class Turns {
 public:
  /// The properties of a request that decide its turn. Numbers count by arrival.
  struct Ticket {
    uint64_t number = 0;
    int priority = 0;
    std::string tenant;
    uint64_t group = 0;  // 0: its own
  };

  void add(const Ticket& ticket);
  /// The one whose turn it is, where some wait.
  std::optional<uint64_t> next() const;
  /// REQUIRES: it waits.
  void start(const Ticket& ticket);
  /// It waits again, at its old place. REQUIRES: it runs.
  void stop(const Ticket& ticket);
  /// It has ended. REQUIRES: it waits.
  void remove(const Ticket& ticket);

 private:
  struct Group {
    std::set<std::pair<int64_t, uint64_t>> waiting;  // the negative priority, the number
    uint32_t running = 0;
  };
  using GroupKey = std::pair<uint64_t, uint64_t>;  // the group, or 0 and the number
  struct Tenant {
    std::map<GroupKey, Group> groups;
    uint32_t running = 0;
  };

  static GroupKey key_of(const Ticket& ticket);
  Group& group_of(const Ticket& ticket) {
    return tenants_.at(ticket.tenant).groups.at(key_of(ticket));
  }

  std::map<std::string, Tenant> tenants_;
};

}  // namespace tokamak
