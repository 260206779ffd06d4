@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;

fn value(row: u32, column: u32) -> f32 {
  let periods = (position_of(row) + SHIFT) / PERIOD;
  return (1.0 + BETA * log(1.0 + f32(periods))) * x[row * COLUMNS + column];
}

