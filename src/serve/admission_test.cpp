#include "serve/admission.h"

#include <gtest/gtest.h>

#include <vector>

namespace tokamak::serve {
namespace {

using Places = std::vector<std::shared_ptr<Admission::Place>>;

TEST(Admission, QueuesUpToItsLimit) {
  Admission admission(2, 3);
  Places places;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(admission.wait_seconds()) << i;
    places.push_back(admission.begin());
  }
  EXPECT_TRUE(admission.wait_seconds());
  places.back()->end(1);
  EXPECT_FALSE(admission.wait_seconds());
  places.front().reset();
  EXPECT_EQ(admission.in_flight(), 3u);
}

TEST(Admission, WithoutAQueueLetsInWhatRunsAtOnce) {
  Admission admission(1, 0);
  EXPECT_FALSE(admission.wait_seconds());
  const auto place = admission.begin();
  EXPECT_EQ(admission.wait_seconds(), 1u);
}

TEST(Admission, CountsTheSequencesOfARequest) {
  Admission admission(2, 6);
  const auto first = admission.begin();
  EXPECT_FALSE(first->widen(5));
  EXPECT_EQ(admission.in_flight(), 5u);
  const auto second = admission.begin();
  EXPECT_TRUE(second->widen(4)) << "there is room for two more";
  EXPECT_EQ(admission.in_flight(), 6u) << "it stays as it was";
  EXPECT_FALSE(second->widen(3));
  EXPECT_TRUE(admission.wait_seconds());
  EXPECT_FALSE(second->widen(1)) << "it needs no more than it has";
  first->end(1);
  EXPECT_EQ(admission.in_flight(), 3u);
}

TEST(Admission, RefusesARequestOfTooManySequencesWithWhenToComeAgain) {
  Admission admission(2, 2);
  const auto other = admission.begin(), own = admission.begin();
  EXPECT_TRUE(own->admit(3, "the server takes"));
  const auto wide = other->admit(2, "the server takes");
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().status, 429);
  EXPECT_EQ(
      wide.error().message,
      "The request is 2 answers beside those in flight, but the server takes 4 at once; retry "
      "later.");
  EXPECT_GE(wide.error().retry_seconds, 1u);
  const auto never = own->admit(5, "the server takes");
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().message.find("ask for fewer"), std::string::npos);
  EXPECT_EQ(never.error().retry_seconds, 0u) << "there is no time at which it fits";
}

TEST(Admission, DistinguishesSlowModelsFromFastOnes) {
  const auto seconds_of = [](double each) {
    Admission admission(1, 9);
    for (int i = 0; i < 100; ++i) admission.begin()->end(each);
    Places places;
    for (int i = 0; i < 10; ++i) places.push_back(admission.begin());
    return *admission.wait_seconds();
  };
  EXPECT_EQ(seconds_of(0.01), 1u);
  EXPECT_EQ(seconds_of(2), 10u);
  EXPECT_EQ(seconds_of(1000), 120u) << "at most";
}

}  // namespace
}  // namespace tokamak::serve
