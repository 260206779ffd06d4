// A row with GATED 1 has what gates the input, what gates the result, and what is convolved.
@group(0) @binding(INPUT_0) var<storage, read> x: array<f32>;

fn input(t: u32, column: u32) -> f32 {
  if (GATED == 0u) {
    return x[t * COLUMNS + column];
  }
  let at = 3u * t * COLUMNS + column;
  return x[at] * x[at + 2u * COLUMNS];
}

fn after(t: u32, column: u32) -> f32 {
  if (GATED == 0u) {
    return 1.0;
  }
  return x[(3u * t + 1u) * COLUMNS + column];
}
