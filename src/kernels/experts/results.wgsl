// The results of two rows of an expert, of which the first is even: two, or with GLU 1, one. Then an
// expert has OUT rows of gates and OUT of what they gate, which are taken by turns.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const EXPERT_ROWS = OUT * (1u + GLU);

fn stored_row(row: u32) -> u32 {
  if (GLU == 0u) {
    return row;
  }
  return row / 2u + row % 2u * OUT;
}

fn store_pair(slot: u32, row: u32, pair: vec2<f32>) {
  if (row >= EXPERT_ROWS) {
    return;
  }
  if (GLU == 1u) {
    let of_gate = bias_of(slot, row / 2u);
    let of_gated = bias_of(slot, OUT + row / 2u);
    y[slot * OUT + row / 2u] = gated(pair.x + of_gate, pair.y + of_gated);
    return;
  }
  y[slot * OUT + row] = pair.x + bias_of(slot, row);
  if (row + 1u < OUT) {
    y[slot * OUT + row + 1u] = pair.y + bias_of(slot, row + 1u);
  }
}

