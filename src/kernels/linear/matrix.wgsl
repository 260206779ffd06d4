// A tile of tokens by a tile of rows per workgroup: see matrix_tile.wgsl. Of split_linear a workgroup
// has the IN columns of one part; a row has COLUMNS of them. Contract and range: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

fn line_start(token: u32, part: u32) -> u32 {
  return token * COLUMNS + part * IN;
}

fn last_line() -> u32 {
  return step_rows() - 1u;
}

fn weight_at(row: u32, part: u32, column: u32) -> u32 {
  return min(row, ROWS - 1u) * COLUMNS + part * IN + min(column, IN - 8u);
}

fn store_product(token: u32, row: u32, part: u32, value: vec2<f32>) {
  store_pair(token, part * PART_ROWS + FIRST_ROW + row, value);
}

fn run(group: vec3<u32>, lane: u32, subgroup: u32) {
  multiply_tile(Place(group.y * TOKEN_TILE, group.x * ROW_TILE, group.z), lane, subgroup);
}

