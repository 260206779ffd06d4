// Ending of `fused_linear` that convolves its first CONVOLVED rows over time: see conv/short_conv.h.
// A lane owns a row, and with it that column of the state.
@group(0) @binding(R_BINDING) var<storage, read> taps: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> earlier: array<f32>;

fn convolved(token: u32, row: u32, value: f32) -> f32 {
  if (row >= CONVOLVED) {
    return value;
  }
  let slot = slot_of_row(token);
  let state = batch.slot[slot].index * (TAPS - 1u) * CONVOLVED + row;
  var sum = taps[row * TAPS + TAPS - 1u] * value;
  for (var j = 0u; j < TAPS - 1u; j++) {
    let at = state + j * CONVOLVED;
    let old = select(0.0, earlier[at], batch.slot[slot].position != 0u);
    sum += taps[row * TAPS + j] * old;
    if (j > 0u) {
      earlier[at - CONVOLVED] = old;
    }
  }
  earlier[state + (TAPS - 2u) * CONVOLVED] = value;
  return activate(sum);
}

fn store_pair(token: u32, row: u32, value: vec2<f32>) {
  y[token * OUT + row] = convolved(token, row, value.x + bias(row));
  if (row + 1u < OUT) {
    y[token * OUT + row + 1u] = convolved(token, row + 1u, value.y + bias(row + 1u));
  }
}
