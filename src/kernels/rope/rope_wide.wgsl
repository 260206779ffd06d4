// Four pairs per lane, or four of the elements that do not turn; rows of tokens are grid.y.
// Contract and reference: rope.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(INPUT_1) var<storage, read> table: array<vec4<f32>>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<vec4<f32>>;

const TURNING = ROTARY / 8u;  // lanes of a head that turn pairs
const HEAD_LANES = TURNING + (HEAD_DIM - ROTARY) / 4u;
const HEADS = COLUMNS / HEAD_DIM;

fn run(group: vec3<u32>, lane: u32) {
  let item = group.x * THREADS + lane;
  if (item >= HEADS * HEAD_LANES) {
    return;
  }
  let first = (group.y * COLUMNS + item / HEAD_LANES * HEAD_DIM) / 4u;
  let own = item % HEAD_LANES;
  if (own >= TURNING) {
    y[first + TURNING + own] = x[first + TURNING + own];
    return;
  }
  let row = angles_of(group.y) * (ROTARY / 4u);
  let cosines = table[row + own];
  let sines = table[row + TURNING + own];
  let a = x[first + own];
  let b = x[first + TURNING + own];
  y[first + own] = a * cosines - b * sines;
  y[first + TURNING + own] = b * cosines + a * sines;
}
