// A head of a key or of a value per workgroup, since all its elements have a say in its step; tokens
// are grid.y. Contract: attention.h.
@group(0) @binding(INPUT_0) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> cache: array<CacheWord>;

fn run(group: vec3<u32>, lane: u32) {
  let part = group.x / KV_HEADS;
  let kv_head = group.x % KV_HEADS;
  let start = (group.y * KV_HEADS + kv_head) * HEAD_WORDS;
  var largest = 0.0;
  for (var i = lane; i < HEAD_WORDS; i += THREADS) {
    let four = abs(select(k[start + i], v[start + i], part == 1u));
    largest = max(largest, max(max(four.x, four.y), max(four.z, four.w)));
  }
  let step = step_of(reduce_max(largest, lane));

  let cell = cell_of(slot_of_row(group.y), position_of(group.y));
  for (var i = lane; i < HEAD_WORDS; i += THREADS) {
    let four = select(k[start + i], v[start + i], part == 1u);
    cache[place_of_head(cell, part, kv_head) + i] = pack_bytes(four, step);
  }
  if (lane == 0u) {
    cache[place_of_step(cell, part, kv_head)] = bitcast<u32>(step);
  }
}
