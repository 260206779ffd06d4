@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> shares: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  var sum = 0.0;
  for (var slot = row * TOP_K; slot < (row + 1u) * TOP_K; slot++) {
    sum += shares[slot] * x[slot * COLUMNS + column];
  }
  return sum;
}

