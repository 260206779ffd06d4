// The results of four rows of an expert: four, or with GLU 1, two. Then an expert has OUT rows of
// gates and OUT of what they gate, which are taken by turns.
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;

const EXPERT_ROWS = OUT * (1u + GLU);
const RESULTS = 4u / (1u + GLU);

fn stored_row(row: u32) -> u32 {
  if (GLU == 0u) {
    return row;
  }
  return row / 2u + row % 2u * OUT;
}

// Result i of the rows from `row` on, which is a multiple of four.
fn store_result(slot: u32, row: u32, i: u32, rows: vec4<f32>) {
  let at = row / (1u + GLU) + i;
  if (at >= OUT) {
    return;
  }
  if (GLU == 0u) {
    y[slot * OUT + at] = rows[i] + bias_of(slot, at);
  } else {
    y[slot * OUT + at] = activate(rows[2u * i]) * rows[2u * i + 1u];
  }
}
