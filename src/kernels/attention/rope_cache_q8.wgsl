@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> cache: array<CacheWord>;

var<workgroup> head_largest: array<f32, THREADS>;

// All lanes of a head get the step that its elements have in common.
fn step_of_head(largest: vec4<f32>, lane: u32) -> f32 {
  head_largest[lane] = max(max(largest.x, largest.y), max(largest.z, largest.w));
  workgroupBarrier();
  var most = 0.0;
  for (var i = 0u; i < HEAD_LANES; i++) {
    most = max(most, head_largest[min(lane / HEAD_LANES * HEAD_LANES + i, THREADS - 1u)]);
  }
  return step_of(most);
}

fn append(row: u32, head: u32, i: u32, value: vec4<f32>, step: f32) {
  let cell = cell_of(slot_of_row(row), position_of(row));
  let part = head / KV_HEADS;
  let kv_head = head % KV_HEADS;
  cache[place_of_head(cell, part, kv_head) + i] = pack_bytes(value, step);
  if (i == 0u) {
    cache[place_of_step(cell, part, kv_head)] = bitcast<u32>(step);
  }
}
