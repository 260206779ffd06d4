// A tile of 64 tokens by 64 rows per workgroup of 16 x 16 lanes; each lane owns 4 x 4 results and
// walks the columns in steps of 32 through workgroup memory. Contract: linear.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> weight_words: array<WeightWord>;

const TILE = 64u;
const STEP = 32u;
// [column][token], then [column][row], so that a lane reads its four neighbours at once.
const W_TILE = STEP * TILE / 4u;
var<workgroup> tiles: array<vec4<f32>, 2u * W_TILE>;

fn run(group: vec3<u32>, lane: u32) {
  let first_row = group.x * TILE;
  let first_token = group.y * TILE;
  let own_rows = lane % 16u;
  let own_tokens = lane / 16u;
  // Half of the lanes bring in eight neighbouring columns of four tokens or of four rows each. They
  // store whole vectors: a store to one component may touch the others, which another lane owns.
  let brings_x = lane < 64u;
  let brings_w = lane >= 64u && lane < 128u;
  let bring = lane % 64u / 4u;
  let bring_columns = (lane % 4u) * 8u;
  let place = select(W_TILE, 0u, brings_x) + bring_columns * (TILE / 4u) + bring;
  var sums: array<vec4<f32>, 4>;
  for (var start = 0u; start < IN; start += STEP) {
    let column = start + bring_columns;
    // Set by hand: Dawn on lavapipe was seen to keep the value of the turn before.
    var block = array<array<vec4<f32>, 2>, 4>();
    for (var i = 0u; i < 4u; i++) {
      let token = first_token + bring * 4u + i;
      let row = min(first_row + bring * 4u + i, ROWS - 1u);
      if (brings_x && column < IN && token < frame.tokens) {
        block[i] = array(x[(token * IN + column) / 4u], x[(token * IN + column) / 4u + 1u]);
      }
      if (brings_w && column < IN) {
        block[i] = weights8(row * (IN / 8u) + column / 8u);
      }
    }
    workgroupBarrier();
    if (brings_x || brings_w) {
      for (var i = 0u; i < 8u; i++) {
        tiles[place + i * (TILE / 4u)] = vec4(block[0][i / 4u][i % 4u], block[1][i / 4u][i % 4u],
                                              block[2][i / 4u][i % 4u], block[3][i / 4u][i % 4u]);
      }
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k++) {
      let a = tiles[k * (TILE / 4u) + own_tokens];
      let b = tiles[W_TILE + k * (TILE / 4u) + own_rows];
      sums[0] += a.x * b;
      sums[1] += a.y * b;
      sums[2] += a.z * b;
      sums[3] += a.w * b;
    }
  }
  let own_row = first_row + own_rows * 4u;
  for (var i = 0u; i < 4u; i++) {
    let own_token = first_token + own_tokens * 4u + i;
    if (own_token < frame.tokens) {
      if (own_row < ROWS) {
        store_pair(own_token, FIRST_ROW + own_row, sums[i].xy);
      }
      if (own_row + 2u < ROWS) {
        store_pair(own_token, FIRST_ROW + own_row + 2u, sums[i].zw);
      }
    }
  }
}

