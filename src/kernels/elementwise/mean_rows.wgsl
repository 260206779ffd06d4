// STRIP neighbouring columns per workgroup; THREADS / STRIP rows are in flight, and their partial sums
// are added at the end. Slots are grid.y. Contract: elementwise.h.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const ROWS = THREADS / STRIP;

var<workgroup> partial: array<f32, THREADS>;

fn run(group: vec3<u32>, lane: u32) {
  let start = batch.slot[group.y].start;
  let count = batch.slot[group.y].count;
  let column = group.x * STRIP + lane % STRIP;
  var sum = 0.0;
  if (column < COLUMNS) {
    for (var row = lane / STRIP; row < count; row += ROWS) {
      sum += x[(start + row) * COLUMNS + column];
    }
  }
  partial[lane] = sum;
  for (var stride = THREADS / 2u; stride >= STRIP; stride /= 2u) {
    workgroupBarrier();
    if (lane < stride) {
      partial[lane] += partial[lane + stride];
    }
  }
  if (lane < STRIP && column < COLUMNS) {
    y[group.y * COLUMNS + column] = partial[lane] / f32(count);
  }
}
