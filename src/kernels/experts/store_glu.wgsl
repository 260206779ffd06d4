// An expert has OUT rows of gates, then OUT of what they gate; they are taken by turns.
const EXPERT_ROWS = 2u * OUT;

fn stored_row(row: u32) -> u32 {
  return row / 2u + row % 2u * OUT;
}

fn store_rows(slot: u32, row: u32, values: vec4<f32>) {
  for (var r = 0u; r < 4u && row + r < EXPERT_ROWS; r += 2u) {
    y[slot * OUT + (row + r) / 2u] = activate(values[r]) * values[r + 1u];
  }
}
