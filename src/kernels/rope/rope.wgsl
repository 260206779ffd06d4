// One element per lane; rows of tokens are grid.y. Contract and reference: rope.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> table: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column >= COLUMNS) {
    return;
  }
  let i = group.y * COLUMNS + column;
  let j = column % HEAD_DIM;
  let row = angles_of(group.y) * ROTARY;
  let half = ROTARY / 2u;
  if (j < half) {
    y[i] = x[i] * table[row + j] - x[i + half] * table[row + half + j];
  } else if (j < ROTARY) {
    y[i] = x[i] * table[row + j - half] + x[i - half] * table[row + j];
  } else {
    y[i] = x[i];
  }
}

