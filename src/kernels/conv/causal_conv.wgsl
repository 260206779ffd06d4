// TILE_ROWS rows by TILE_COLUMNS columns per workgroup of 16 x 8 lanes, each of which owns four rows, 16
// apart, and four neighbouring columns. Contract: causal_conv.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> w: array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> bias: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const QUADS = TILE_COLUMNS / 4u;
const ROW_LANES = THREADS / QUADS;
const REACH = (TAPS - 1u) * DILATION;
const WEIGHTS = BLOCK * TAPS;
// [column of the block][row], and [column and tap][four columns of y].
var<workgroup> rows: array<f32, BLOCK * STAGED_ROWS>;
var<workgroup> weights: array<vec4<f32>, WEIGHTS * WEIGHT_VECTORS>;

fn weight(column: u32, at: u32) -> f32 {
  if (column >= COLUMNS || at >= X_COLUMNS * TAPS) {
    return 0.0;
  }
  return w[column * X_COLUMNS * TAPS + at];
}

fn store(row: u32, column: u32, sums: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) {
    if (column + i < COLUMNS) {
      let at = row * COLUMNS + column + i;
      y[at] = sums[i] + bias[column + i] + summand(at);
    }
  }
}

fn run(group: vec3<u32>, lane: u32) {
  let tile = tile_of(group.y, TILE_ROWS);
  let start = batch.slot[tile.slot].start;
  let first_column = group.x * TILE_COLUMNS;
  let own_quad = lane % QUADS;
  let own_row = lane / QUADS;
  var sums = array<vec4<f32>, 4>();
  for (var block = 0u; block < X_COLUMNS; block += BLOCK) {
    workgroupBarrier();
    for (var i = lane; i < BLOCK * STAGED_ROWS; i += THREADS) {
      let column = block + i % BLOCK;
      let row = tile.first + i / BLOCK;  // and REACH less
      var value = 0.0;
      if (column < X_COLUMNS && row >= start + REACH && row < tile.end + REACH) {
        value = activated(x[(row - REACH) * X_COLUMNS + column], column);
      }
      rows[i % BLOCK * STAGED_ROWS + i / BLOCK] = value;
    }
    for (var i = lane; i < WEIGHTS * QUADS; i += THREADS) {
      let at = block * TAPS + i % WEIGHTS;
      let column = first_column + 4u * (i / WEIGHTS);
      weights[i % WEIGHTS * WEIGHT_VECTORS + i / WEIGHTS] =
          vec4(weight(column, at), weight(column + 1u, at), weight(column + 2u, at), weight(column + 3u, at));
    }
    workgroupBarrier();
    for (var c = 0u; c < BLOCK; c++) {
      for (var j = 0u; j < TAPS; j++) {
        let at = c * STAGED_ROWS + own_row + j * DILATION;
        let b = weights[(c * TAPS + j) * WEIGHT_VECTORS + own_quad];
        sums[0] += rows[at] * b;
        sums[1] += rows[at + ROW_LANES] * b;
        sums[2] += rows[at + 2u * ROW_LANES] * b;
        sums[3] += rows[at + 3u * ROW_LANES] * b;
      }
    }
  }
  for (var i = 0u; i < 4u; i++) {  // unroll
    let row = tile.first + own_row + i * ROW_LANES;
    if (row < tile.end) {
      store(row, first_column + 4u * own_quad, sums[i]);
    }
  }
}
