@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;

fn input(t: u32, column: u32) -> f32 {
  return x[t * COLUMNS + column];
}

fn after(t: u32, column: u32) -> f32 {
  return 1.0;
}
