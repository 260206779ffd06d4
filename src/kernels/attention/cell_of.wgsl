// The cell of the cache that a slot's sequence has for a position: pages have 16.
fn cell_of(slot: u32, position: u32) -> u32 {
  return pages[batch.slot[slot].index * PAGES + position / 16u] * 16u + position % 16u;
}
