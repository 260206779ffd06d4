#include "generate/schedule/turns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tokamak {
namespace {

/// Gives slots until nobody waits; those who have one keep it.
std::string order(Turns& turns, const std::vector<Turns::Ticket>& tickets) {
  std::string text;
  while (const auto number = turns.next()) {
    text += std::to_string(*number);
    turns.start(tickets.at(*number - 1));
  }
  return text;
}

std::string order_of(const std::vector<Turns::Ticket>& tickets) {
  Turns turns;
  for (const Turns::Ticket& one : tickets) turns.add(one);
  return order(turns, tickets);
}

TEST(Turns, GoByArrivalAmongEquals) {
  EXPECT_EQ(order_of({{.number = 1}, {.number = 2}, {.number = 3}}), "123");
}

TEST(Turns, GoByPriorityFirst) {
  EXPECT_EQ(order_of({{.number = 1}, {.number = 2, .priority = 1}, {.number = 3, .priority = -1}}),
            "213");
}

TEST(Turns, AreOfGroupsAndNotOfAllChoicesOfOne) {
  EXPECT_EQ(order_of({{.number = 1, .group = 7},
                      {.number = 2, .group = 7},
                      {.number = 3, .group = 7},
                      {.number = 4},
                      {.number = 5, .group = 8},
                      {.number = 6, .group = 8}}),
            "145263");
}

TEST(Turns, AreOfTenantsBeforeGroups) {
  EXPECT_EQ(order_of({{.number = 1, .tenant = "a"},
                      {.number = 2, .tenant = "a"},
                      {.number = 3, .tenant = "a"},
                      {.number = 4, .tenant = "b", .group = 9},
                      {.number = 5, .tenant = "b", .group = 9}}),
            "14253");
}

TEST(Turns, CountThoseThatRun) {
  const std::vector<Turns::Ticket> tickets = {
      {.number = 1, .group = 7}, {.number = 2, .group = 7}, {.number = 3}};
  Turns turns;
  turns.add(tickets[0]);
  turns.add(tickets[1]);
  turns.start(tickets[0]);
  turns.add(tickets[2]);
  EXPECT_EQ(turns.next(), 3u) << "the group has a slot already";
  turns.stop(tickets[0]);
  EXPECT_EQ(turns.next(), 1u) << "it has its old place again";
  turns.remove(tickets[0]);
  EXPECT_EQ(turns.next(), 2u);
}

TEST(Turns, ForgetWhoHasEnded) {
  const std::vector<Turns::Ticket> tickets = {{.number = 1, .tenant = "a"}, {.number = 2}};
  Turns turns;
  for (const Turns::Ticket& one : tickets) {
    turns.add(one);
    turns.start(one);
    turns.stop(one);
    turns.remove(one);
  }
  EXPECT_EQ(turns.next(), std::nullopt);
}

}  // namespace
}  // namespace tokamak
