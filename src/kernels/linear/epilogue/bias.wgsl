@group(0) @binding(INPUT_2) var<storage, read> bias_values: array<f32>;

fn bias(row: u32) -> f32 {
  return bias_values[row];
}

