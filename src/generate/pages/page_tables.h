// The page tables of a plan: which pages of a cache each slot has.
#pragma once
#include <span>
#include <vector>

#include "plan/plan.h"

namespace tokamak {

/// One table for all caches with the same window, with a row for each slot: logical page -> page.
struct PageTable {
  BufferId buffer = {};
  uint32_t pages = 0;  // of a slot
  uint32_t ring = 0;   // with a window: pages that each slot has of its own, used in turn
  uint32_t pool = 0;   // without: pages that all slots share
};
std::vector<PageTable> page_tables(const Plan& plan);
/// Pages of the layers that see everything.
uint32_t pool_size(std::span<const PageTable> tables);

/// Positions of the shortest ring beyond its window, which may be written for nothing; the largest
/// number where no layer has a window.
uint32_t window_spare(const Plan& plan);
/// RopeTable::short_rows of the plan; 0: all sequences are turned alike.
uint32_t short_rotary_rows(const Plan& plan);

/// All pages of a slot where each has an equal part of the cache. Without a window slots get into
/// each other's way where the pool is smaller than all of them need. With one, these are always the
/// slot's pages: a new page takes the place of one that has slid out of the window.
std::vector<uint32_t> equal_part(const PageTable& table, uint32_t slot);

}  // namespace tokamak
