// A tile of rows of one expert, for the slots of up to TOKENS tokens that chose it, in tiles of lines
// per workgroup: see linear/matrix_tile.wgsl. results.wgsl stores the results. Contract: experts.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;
@group(0) @binding(INPUT_2) var<storage, read> chosen: array<u32>;

const ROWS = EXPERT_ROWS;

fn line_start(place: u32, part: u32) -> u32 {
  return slot_start(found_slots[place]);
}

fn last_line() -> u32 {
  return found_count.x - 1u;
}

fn weight_at(row: u32, part: u32, column: u32) -> u32 {
  return (own_expert * EXPERT_ROWS + stored_row(min(row, EXPERT_ROWS - 1u))) * IN + min(column, IN - 8u);
}

fn store_product(place: u32, row: u32, part: u32, value: vec2<f32>) {
  store_pair(found_slots[place], row, value);
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  own_expert = group.y;
  let count = find_slots(group.z * TOKENS, FIRST_EXPERT + own_expert, lane);
  for (var place = 0u; place < count; place += TOKEN_TILE) {
    multiply_tile(Place(place, group.x * ROW_TILE, 0u), lane, subgroup);
  }
}

