// The positions that a query at `position` sees begin here; where they end, seen_until() says.
fn seen_from(position: u32) -> u32 {
  return select(0u, position + 1u - WINDOW, WINDOW > 0u && position >= WINDOW);
}
