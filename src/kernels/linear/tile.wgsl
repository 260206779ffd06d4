// The products of a tile: TILE_LINES lines of x, tokens or slots, by 64 rows of the matrix. Lanes stand
// 16 beside each other; each owns 4 lines x 4 rows and walks the columns in steps of 32 through
// workgroup memory. The kernel says what a line and a row are, eight columns of them from `column` on:
// tile_x(line, column) and tile_w(row, column).
const TILE_ROWS = 64u;
const STEP = 32u;
// [column][line], then [column][row], so that a lane reads its four neighbours at once.
const W_TILE = STEP * TILE_LINES / 4u;
var<workgroup> tiles: array<vec4<f32>, STEP * (TILE_LINES + TILE_ROWS) / 4u>;

// The sums of this lane's four rows, for its four lines.
fn tile_products(first_line: u32, first_row: u32, lane: u32) -> array<vec4<f32>, 4> {
  let own_rows = lane % 16u;
  let own_lines = lane / 16u;
  // Some lanes bring in eight neighbouring columns of four lines or of four rows each. They store
  // whole vectors: a store to one component may touch the others, which another lane owns.
  let brings_x = lane < TILE_LINES;
  let brings_w = lane >= TILE_LINES && lane < TILE_LINES + TILE_ROWS;
  let bring = select(lane - TILE_LINES, lane, brings_x) / 4u;
  let bring_columns = (lane % 4u) * 8u;
  let stride = select(TILE_ROWS, TILE_LINES, brings_x) / 4u;
  let place = select(W_TILE, 0u, brings_x) + bring_columns * stride + bring;
  var sums = array<vec4<f32>, 4>();
  for (var start = 0u; start < IN; start += STEP) {
    let column = start + bring_columns;
    // Set by hand: Dawn on lavapipe was seen to keep the value of the iteration before.
    var block = array<array<vec4<f32>, 2>, 4>();
    for (var i = 0u; i < 4u; i++) {
      if (brings_x && column < IN) {
        block[i] = tile_x(first_line + bring * 4u + i, column);
      }
      if (brings_w && column < IN) {
        block[i] = tile_w(first_row + bring * 4u + i, column);
      }
    }
    workgroupBarrier();
    if (brings_x || brings_w) {
      for (var i = 0u; i < 8u; i++) {
        tiles[place + i * stride] = vec4(block[0][i / 4u][i % 4u], block[1][i / 4u][i % 4u],
                                         block[2][i / 4u][i % 4u], block[3][i / 4u][i % 4u]);
      }
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k++) {
      let a = tiles[k * (TILE_LINES / 4u) + own_lines];
      let b = tiles[W_TILE + k * (TILE_ROWS / 4u) + own_rows];
      sums[0] += a.x * b;
      sums[1] += a.y * b;
      sums[2] += a.z * b;
      sums[3] += a.w * b;
    }
  }
  return sums;
}
