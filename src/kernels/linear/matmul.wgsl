// A tile of 64 tokens by 64 rows per workgroup of 16 x 16 lanes; see tile.wgsl. Of split_linear it has
// the IN columns of one part; a row has COLUMNS of them. Contract: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const TILE_LINES = 64u;

var<private> part: u32;

fn tile_x(token: u32, column: u32) -> array<vec4<f32>, 2> {
  if (token >= step_rows()) {
    return array<vec4<f32>, 2>();
  }
  let at = (token * COLUMNS + part * IN + column) / 4u;
  return array(x[at], x[at + 1u]);
}

fn tile_w(row: u32, column: u32) -> array<vec4<f32>, 2> {
  return weights8((min(row, ROWS - 1u) * COLUMNS + part * IN + column) / 8u);
}

fn run(group: vec3<u32>, lane: u32) {
  let first_row = group.x * TILE_ROWS;
  let first_token = group.y * TILE_LINES;
  part = group.z;
  let first = part * PART_ROWS + FIRST_ROW;
  let sums = tile_products(first_token, first_row, lane);
  let own_row = first_row + lane % 16u * 4u;
  for (var i = 0u; i < 4u; i++) {
    let own_token = first_token + lane / 16u * 4u + i;
    if (own_token < step_rows()) {
      if (own_row < ROWS) {
        store_pair(own_token, first + own_row, sums[i].xy);
      }
      if (own_row + 2u < ROWS) {
        store_pair(own_token, first + own_row + 2u, sums[i].zw);
      }
    }
  }
}

