#include "generate/speculate/prompt_lookup.h"

#include <gtest/gtest.h>

#include <random>

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

Ids draft_of(const Ids& ids, uint32_t most) {
  return PromptLookup().draft(ids, most).ids;
}

TEST(PromptLookup, RecognizesNothingOfWhatIsNew) {
  EXPECT_EQ(draft_of({}, 4), Ids());
  EXPECT_EQ(draft_of({1}, 4), Ids());
  EXPECT_EQ(draft_of({1, 2, 3, 4}, 4), Ids());
  EXPECT_EQ(draft_of({1, 2, 1}, 0), Ids());
}

TEST(PromptLookup, DraftsWhatFollowedTheLongestEnd) {
  // After 3 alone comes 9, but after 1 2 3 came 4 5 6.
  const Ids ids = {1, 2, 3, 4, 5, 6, 7, 3, 9, 8, 1, 2, 3};
  EXPECT_EQ(draft_of(ids, 3), (Ids{4, 5, 6}));
  EXPECT_EQ(PromptLookup().draft(ids, 3).match, 3u);
  EXPECT_EQ(draft_of({3, 4, 2, 3, 5, 9, 3}, 1), Ids{5}) << "the last of several places";
}

TEST(PromptLookup, ReportsHowLongTheEndIs) {
  Ids ids;
  for (const uint32_t repeats : {0u, 1u}) {
    for (uint32_t i = 0; i < 10; ++i) ids.push_back(i);
    ids.push_back(100 + repeats);
  }
  ids.pop_back();
  EXPECT_EQ(PromptLookup().draft(ids, 2).match, 10u);
  EXPECT_EQ(PromptLookup().draft(ids, 2).ids, (Ids{100, 0}));
  EXPECT_EQ(PromptLookup().draft(Ids(100, 7), 1).match, PromptLookup::kMaxMatch);
}

TEST(PromptLookup, GoesAroundWhereTheTextDoes) {
  EXPECT_EQ(draft_of({1, 2, 3, 1, 2, 3}, 7), (Ids{1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(draft_of({5, 5}, 3), (Ids{5, 5, 5}));
}

/// The draft of the index, found by looking at every place.
Draft searched(const Ids& ids, uint32_t most) {
  for (size_t n = std::min<size_t>(3, ids.size()); n > 0; --n) {
    for (size_t end = ids.size() - 1; end >= n; --end) {
      if (!std::equal(ids.end() - std::ptrdiff_t(n), ids.end(),
                      ids.begin() + std::ptrdiff_t(end - n))) {
        continue;
      }
      Draft draft;
      Ids longer = ids;
      for (size_t i = end; draft.ids.size() < most; ++i) {
        draft.ids.push_back(longer[i]);
        longer.push_back(longer[i]);
      }
      return draft;
    }
  }
  return {};
}

TEST(PromptLookup, FindsTokenByTokenWhatASearchFinds) {
  std::mt19937 random(3);
  PromptLookup lookup;
  Ids ids;
  size_t found = 0, missed = 0;
  for (uint32_t i = 0; i < 3000; ++i) {
    // Some repeat what was before.
    const size_t from = random() % (ids.size() + 1), count = random() % 4;
    for (size_t n = 0; n < count && from + n < ids.size(); ++n) ids.push_back(ids[from + n]);
    ids.push_back(uint32_t(random() % 40));
    const Ids drafted = lookup.draft(ids, 5).ids, expected = searched(ids, 5).ids;
    // A place may be taken by others of the same hash: nothing or a shorter end is found then.
    (drafted == expected ? found : missed) += 1;
  }
  EXPECT_LT(missed, found / 5);
}

}  // namespace
}  // namespace tokamak
