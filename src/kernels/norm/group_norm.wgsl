// All rows of a slot per workgroup: their mean, then how far they are from it. Slots are grid.y.
// Contract and reference: group_norm.h.
@group(0) @binding(INPUT_0) var<storage, read> x : array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> w : array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> bias : array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y : array<f32>;

fn run(group : vec3<u32>, lane : u32) {
  let start = batch.slot[group.y].start * COLUMNS;
  let count = batch.slot[group.y].count * COLUMNS;
  var sum = 0.0;
  for (var i = lane; i < count; i += THREADS) {
    sum += x[start + i];
  }
  let mean = reduce_sum(sum, lane) / f32(count);
  var squares = 0.0;
  for (var i = lane; i < count; i += THREADS) {
    let away = x[start + i] - mean;
    squares += away * away;
  }
  let scale = inverseSqrt(reduce_sum(squares, lane) / f32(count) + EPS);
  for (var i = lane; i < count; i += THREADS) {
    y[start + i] = (x[start + i] - mean) * scale * w[i % COLUMNS] + bias[i % COLUMNS];
  }
}
