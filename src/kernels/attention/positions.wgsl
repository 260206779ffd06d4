// The first position that a query at `position` sees; seen_until() has the end.
fn seen_from(slot: u32, position: u32) -> u32 {
  return select(0u, position + 1u - WINDOW, WINDOW > 0u && position >= WINDOW);
}
