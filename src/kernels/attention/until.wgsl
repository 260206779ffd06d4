// Up to where a query at `position` sees, and without that.
fn seen_until(slot: u32, position: u32) -> u32 {
  if (CAUSAL == 1u) {
    return position + 1u;
  }
  let end = batch.slot[slot].position + batch.slot[slot].count;
  return select(end, min(end, position + WINDOW), WINDOW > 0u);
}
