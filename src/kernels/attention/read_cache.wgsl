@group(0) @binding(INPUT_1) var<storage, read> cache: array<CacheWord>;
@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;


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
