#include "serve/residency.h"

#include <gtest/gtest.h>

#include <limits>

namespace tokamak::serve {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

using Models = std::vector<size_t>;

ResidencyFacts loaded(double last_use, uint64_t bytes = 10) {
  return {.is_loaded = true, .bytes = bytes, .last_use = last_use, .keep_seconds = kForever};
}
ResidencyFacts pinned(double last_use, uint64_t bytes = 10) {
  ResidencyFacts facts = loaded(last_use, bytes);
  facts.is_pinned = true;
  return facts;
}
ResidencyFacts busy(double last_use, uint64_t bytes = 10) {
  ResidencyFacts facts = loaded(last_use, bytes);
  facts.is_busy = true;
  return facts;
}
ResidencyFacts asked(uint64_t bytes = 10) {
  return {.bytes = bytes};
}

TEST(Residency, LeavesAllInPlaceWhereThereIsRoom) {
  const ResidencyFacts models[] = {asked(), loaded(1), loaded(2)};
  EXPECT_EQ(models_to_evict(models, 0, {}), Models{});
  EXPECT_EQ(models_to_evict(models, 0, {.models = 3, .bytes = 30}), Models{});
}

TEST(Residency, EvictsTheLeastRecentlyUsed) {
  const ResidencyFacts models[] = {asked(), loaded(7), loaded(5), loaded(6)};
  EXPECT_EQ(models_to_evict(models, 0, {.models = 3}), Models{2});
  EXPECT_EQ(models_to_evict(models, 0, {.models = 2}), (Models{2, 3}));
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 30}), Models{2});
}

TEST(Residency, NeverEvictsWhatIsPinned) {
  const ResidencyFacts models[] = {asked(), pinned(1), loaded(2)};
  EXPECT_EQ(models_to_evict(models, 0, {.models = 2}), Models{2});
  EXPECT_EQ(models_to_evict(models, 0, {.models = 1}), std::nullopt);
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 19}), std::nullopt);
}

TEST(Residency, PrefersTheIdleToTheBusy) {
  const ResidencyFacts models[] = {asked(), busy(1), loaded(9)};
  EXPECT_EQ(models_to_evict(models, 0, {.models = 2}), Models{2});
  EXPECT_EQ(models_to_evict(models, 0, {.models = 1}), (Models{2, 1}));
}

TEST(Residency, EvictsNothingThatNeedNotGo) {
  const ResidencyFacts models[] = {asked(50), loaded(1, 5), loaded(2, 60), loaded(3, 5)};
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 70}), Models{2});
}

TEST(Residency, LeavesWhatSeemsTooLargeToTheEngine) {
  const ResidencyFacts models[] = {asked(500), loaded(1)};
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 100}), Models{1});
  const ResidencyFacts beside_pinned[] = {asked(500), pinned(1)};
  EXPECT_EQ(models_to_evict(beside_pinned, 0, {.bytes = 100}), std::nullopt);
}

TEST(Residency, TriesWhatIsNotKnown) {
  const ResidencyFacts models[] = {asked(0), loaded(1), loaded(2)};
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 20}), Models{});
  EXPECT_EQ(models_to_evict(models, 0, {.bytes = 20}, true), Models{1}) << "it did not fit";
  const ResidencyFacts alone[] = {asked(0), pinned(1)};
  EXPECT_EQ(models_to_evict(alone, 0, {}, true), std::nullopt);
}

TEST(Residency, EndsTheTimeOfIdleModels) {
  ResidencyFacts models[] = {loaded(10), loaded(20), pinned(0), busy(0), asked()};
  for (ResidencyFacts& one : models) one.keep_seconds = 5;
  EXPECT_EQ(next_expiry(models), 15);
  EXPECT_EQ(expired_models(models, 14.9), Models{});
  EXPECT_EQ(expired_models(models, 15), Models{0});
  EXPECT_EQ(expired_models(models, 25), (Models{0, 1}));
  models[0].keep_seconds = models[1].keep_seconds = kForever;
  EXPECT_EQ(next_expiry(models), kForever);
  EXPECT_EQ(expired_models(models, 1e9), Models{});
}

}  // namespace
}  // namespace tokamak::serve
