@group(0) @binding(INPUT_2) var<storage, read> bias: array<f32>;

fn start(column: u32) -> f32 {
  return bias[column];
}
