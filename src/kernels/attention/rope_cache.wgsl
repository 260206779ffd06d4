@group(0) @binding(INPUT_2) var<storage, read> pages: array<u32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> cache: array<CacheWord>;

// Head `head` of a cell: it has its keys, then its values.
fn append(row: u32, head: u32, i: u32, value: vec4<f32>, step: f32) {
  let cell = cell_of(slot_of_row(row), position_of(row));
  let at = ((cell * 2u * KV_HEADS + head) * HEAD_FOURS + i) * 2u;
  cache[at] = pack_cache(value.xy);
  cache[at + 1u] = pack_cache(value.zw);
}
