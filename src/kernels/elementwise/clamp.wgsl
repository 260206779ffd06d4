@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  return clamp(x[row * COLUMNS + column], LOW, HIGH);
}
