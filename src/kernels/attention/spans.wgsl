// In place of positions.wgsl and until.wgsl: a row of the step sees a span of positions of its own.
// Neither end becomes smaller from row to row.
@group(0) @binding(INPUT_3) var<storage, read> spans: array<vec2<u32>>;

fn span_of(slot: u32, position: u32) -> vec2<u32> {
  return spans[batch.slot[slot].start + position - batch.slot[slot].position];
}

fn seen_from(slot: u32, position: u32) -> u32 {
  return span_of(slot, position).x;
}

fn seen_until(slot: u32, position: u32) -> u32 {
  return span_of(slot, position).y;
}
