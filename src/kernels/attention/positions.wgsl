// The slot of a position: pages have 16.
fn slot_of(position: u32) -> u32 {
  return pages[position / 16u] * 16u + position % 16u;
}

// The positions that a query at `position` sees: from the one up to and without the other.
fn seen_from(position: u32) -> u32 {
  return select(0u, position + 1u - WINDOW, WINDOW > 0u && position >= WINDOW);
}
fn seen_until(position: u32) -> u32 {
  if (CAUSAL == 1u) {
    return position + 1u;
  }
  let end = frame.position + frame.tokens;
  return select(end, min(end, position + WINDOW), WINDOW > 0u);
}
