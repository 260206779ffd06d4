#include "generate/pages/page_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

Ids numbers(size_t count, uint32_t first = 0) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Ids taken(PagePool& pool, size_t count) {
  Ids pages;
  for (size_t i = 0; i < count; ++i) pages.push_back(*pool.take());
  return pages;
}

void drop(PagePool& pool, const Ids& pages) {
  for (const uint32_t page : pages) pool.drop(page);
}

TEST(PagePool, GivesEveryPageOnceUntilItIsDropped) {
  PagePool pool(3);
  const Ids pages = taken(pool, 3);
  EXPECT_EQ((std::set<uint32_t>(pages.begin(), pages.end())), (std::set<uint32_t>{0, 1, 2}));
  EXPECT_FALSE(pool.take());
  pool.share(pages[1]);
  pool.drop(pages[1]);
  EXPECT_FALSE(pool.take()) << "it has a user";
  pool.drop(pages[1]);
  EXPECT_EQ(pool.take(), pages[1]);
}

TEST(PrefixCache, LeavesPagesIdleThatNoSequenceUses) {
  PagePool pool(4);
  PrefixCache cache(pool);
  const Ids ids = numbers(2 * kPageTokens);
  const Ids pages = taken(pool, 3);
  cache.add("", ids, pages);
  EXPECT_EQ(pool.idle_pages(), 0u) << "the sequence uses them, too";
  drop(pool, pages);
  EXPECT_EQ(pool.idle_pages(), 2u);
  EXPECT_EQ(pool.free_pages(), 2u);
  const Ids found = cache.find("", ids);
  EXPECT_EQ(pool.idle_pages(), 0u) << "another one uses them";
  drop(pool, found);
  EXPECT_TRUE(cache.evict());
  EXPECT_EQ(pool.idle_pages(), 1u);
  cache.clear();
  EXPECT_EQ(pool.idle_pages(), 0u);
  EXPECT_EQ(pool.free_pages(), 4u);
}

TEST(PrefixCache, FindsTheLongestPrefixOfWholePages) {
  PagePool pool(8);
  PrefixCache cache(pool);
  const Ids ids = numbers(40), pages = taken(pool, 3);
  cache.add("", ids, pages);
  EXPECT_EQ(cache.pages(), 2u) << "the third is not full";
  const Ids found = cache.find("", numbers(100));
  EXPECT_EQ(found, (Ids{pages[0], pages[1]}));
  EXPECT_EQ(pool.users(pages[0]), 3u);
  EXPECT_EQ(cache.find("", numbers(31)), (Ids{pages[0]}));
  Ids other = numbers(40);
  other[20] = 7;
  EXPECT_EQ(cache.find("", other), (Ids{pages[0]}));
  other[3] = 7;
  EXPECT_EQ(cache.find("", other), Ids{});
}

TEST(PrefixCache, NeverSharesAmongTenants) {
  PagePool pool(4);
  PrefixCache cache(pool);
  cache.add("alice", numbers(16), taken(pool, 1));
  EXPECT_EQ(cache.find("bob", numbers(16)), Ids{});
  EXPECT_EQ(cache.find("", numbers(16)), Ids{});
  EXPECT_EQ(cache.find("alice", numbers(16)).size(), 1u);
}

TEST(PrefixCache, ForgetsTenantsWithTheirLastPage) {
  PagePool pool(4);
  PrefixCache cache(pool);
  cache.add("short", numbers(15), {});
  EXPECT_EQ(cache.tenants(), 0u) << "nothing is kept of it";
  for (uint32_t i = 0; i < 200000; ++i) {
    if (pool.free_pages() == 0) {
      ASSERT_TRUE(cache.evict());
    }
    const Ids page = taken(pool, 1);
    cache.add(fmt::format("salt {}", i), numbers(16), page);
    drop(pool, page);
    ASSERT_LE(cache.tenants(), pool.size());
  }
  while (cache.evict()) {
  }
  EXPECT_EQ(cache.tenants(), 0u);
  EXPECT_EQ(cache.pages(), 0u);
  EXPECT_EQ(pool.free_pages(), 4u);
}

TEST(PrefixCache, KeepsTenantsApartAfterFourBillionPages) {
  PagePool pool(4);
  PrefixCache cache(pool);
  cache.add("alice", numbers(32), taken(pool, 2));  // a root and two pages
  cache.skip_ids((uint64_t{1} << 32) - 2);
  cache.add("bob", numbers(16, 16), taken(pool, 1));  // in 32 bits its root is alice's first page
  EXPECT_EQ(cache.pages(), 3u);
  EXPECT_EQ(cache.find("bob", numbers(32, 16)), Ids{2});
  EXPECT_EQ(cache.find("alice", numbers(32)), (Ids{0, 1}));
}

TEST(PrefixCache, EvictsWhatWasUsedTheLongestTimeAgoFromTheEnd) {
  PagePool pool(6);
  PrefixCache cache(pool);
  const Ids first = taken(pool, 3), second = taken(pool, 3);
  cache.add("", numbers(48), first);
  cache.add("", numbers(48, 100), second);
  drop(pool, first);
  drop(pool, second);
  drop(pool, cache.find("", numbers(48)));  // the second is older now
  for (const uint32_t page : {second[2], second[1], second[0], first[2]}) {
    ASSERT_TRUE(cache.evict());
    EXPECT_EQ(pool.take(), page);
  }
  EXPECT_EQ(cache.find("", numbers(48)), (Ids{first[0], first[1]}));
  EXPECT_FALSE(cache.evict()) << "all that is left is in use";
}

TEST(PrefixCache, KeepsOnePageForWhatTwoHaveComputed) {
  PagePool pool(4);
  PrefixCache cache(pool);
  const Ids first = taken(pool, 2), second = taken(pool, 2);
  cache.add("", numbers(32), first);
  cache.add("", numbers(32), second);
  EXPECT_EQ(cache.pages(), 2u);
  drop(pool, second);
  EXPECT_EQ(pool.free_pages(), 2u);
  cache.clear();
  drop(pool, first);
  EXPECT_EQ(pool.free_pages(), 4u);
}

}  // namespace
}  // namespace tokamak
