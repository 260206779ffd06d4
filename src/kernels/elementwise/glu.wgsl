@group(0) @binding(INPUT_0) var<storage, read> gate: array<f32>;
@group(0) @binding(INPUT_1) var<storage, read> up: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  return activate(gate[row * COLUMNS + column]) * up[row * UP_COLUMNS + FIRST + column];
}
