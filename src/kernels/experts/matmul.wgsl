// 64 rows of one expert, for the slots of up to TOKENS tokens that chose it, in tiles of 32, per
// workgroup of 16 x 8 lanes; see linear/tile.wgsl. results.wgsl
// gives the order of rows and stores the results. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

const TILE_LINES = 32u;

fn tile_x(place: u32, column: u32) -> array<vec4<f32>, 2> {
  if (place >= found_count.x) {
    return array<vec4<f32>, 2>();
  }
  let at = (slot_start(found_slots[place]) + column) / 4u;
  return array(x[at], x[at + 1u]);
}

fn tile_w(row: u32, column: u32) -> array<vec4<f32>, 2> {
  let stored = own_expert * EXPERT_ROWS + stored_row(min(row, EXPERT_ROWS - 1u));
  return weights8((stored * IN + column) / 8u);
}

fn run(group: vec3<u32>, lane: u32) {
  let first_row = group.x * TILE_ROWS;
  own_expert = group.y;
  let count = find_slots(group.z * TOKENS, FIRST_EXPERT + own_expert, lane);
  for (var tile = 0u; tile < count; tile += TILE_LINES) {
    let sums = tile_products(tile, first_row, lane);
    for (var i = 0u; i < 4u; i++) {
      let place = tile + lane / 16u * 4u + i;
      if (place < count) {
        let row = first_row + lane % 16u * 4u;
        store_pair(found_slots[place], row, sums[i].xy);
        store_pair(found_slots[place], row + 2u, sums[i].zw);
      }
    }
  }
}
