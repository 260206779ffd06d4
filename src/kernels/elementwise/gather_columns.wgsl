@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> order: array<u32>;

fn value(row: u32, column: u32) -> f32 {
  return x[row * COLUMNS + order[column]];
}

