@group(0) @binding(ADDED_INPUT) var<storage, read> added: array<f32>;

fn residual(row: u32) -> f32 {
  return added[row];
}
