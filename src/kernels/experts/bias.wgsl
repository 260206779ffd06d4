@group(0) @binding(BIAS_INPUT) var<storage, read> bias: array<f32>;

// That of a row of the expert of a slot.
fn bias_of(slot: u32, row: u32) -> f32 {
  return bias[min(chosen[slot], EXPERTS - 1u) * BIAS_ROWS + row];
}
