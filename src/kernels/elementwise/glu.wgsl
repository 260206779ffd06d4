@group(0) @binding(INPUT_0) var<storage, read> gate: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> up: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  let i = row * COLUMNS + column;
  return activate(gate[i]) * up[i];
}

