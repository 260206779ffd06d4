// The same as until_ends.wgsl, but a row sees nothing else: the keys are of no part of its sequence.
@group(0) @binding(INPUT_3) var<storage, read> ends: array<u32>;

fn seen_until(slot: u32, position: u32) -> u32 {
  return ends[batch.slot[slot].start + position - batch.slot[slot].position];
}
