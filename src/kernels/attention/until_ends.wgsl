// The same as until.wgsl, but a row of the step sees up to an end of its own, at least itself: the
// rows of an image see all of it. Ends never become smaller from row to row.
@group(0) @binding(INPUT_3) var<storage, read> ends: array<u32>;

fn seen_until(slot: u32, position: u32) -> u32 {
  let row = batch.slot[slot].start + position - batch.slot[slot].position;
  return max(position + 1u, ends[row]);
}
