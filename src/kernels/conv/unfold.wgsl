// Contract and reference: unfold.h.
@group(0) @binding(INPUT_0) var<storage, read> x : array<f32>;

fn value(row : u32, column : u32) -> f32 {
  let at = STRIDE * position_of(row) + column % TAPS;  // and PAD more
  if (at < PAD || at - PAD >= ROWS) {
    return 0.0;
  }
  return x[(at - PAD) * (COLUMNS / TAPS) + column / TAPS];
}
