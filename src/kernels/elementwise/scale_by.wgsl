@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> s: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  return FACTOR * s[0] * x[row * COLUMNS + column];
}

