@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> mean: array<f32>;
@group(0) @binding(INPUT_2) var<storage, read> by: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  return (x[row * COLUMNS + column] - mean[column]) * by[column];
}
