// One column per lane, TOKENS tokens of it; blocks of tokens are grid.y. Contract: short_conv.h.
// TOKENS is at least KERNEL - 1, so only the first block reads the state, and it writes it as well.
@group(0) @binding(INPUT_1) var<storage, read> w: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> state: array<f32>;

// The input `back` tokens before token t of the step.
fn earlier(t: u32, back: u32, column: u32) -> f32 {
  if (t >= back) {
    return input(t - back, column);
  }
  if (frame.position == 0u) {
    return 0.0;
  }
  return state[(t + KERNEL - 1u - back) * COLUMNS + column];
}

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column >= COLUMNS) {
    return;
  }
  let first = group.y * TOKENS;
  for (var t = first; t < min(first + TOKENS, frame.tokens); t++) {
    var sum = start(column);
    for (var j = 0u; j < KERNEL; j++) {
      sum += w[column * KERNEL + j] * earlier(t, KERNEL - 1u - j, column);
    }
    y[t * COLUMNS + column] = after(t, column) * activate(sum);
  }
  if (group.y == 0u) {
    // Row i comes from further down, so ascending order reads each row before it is overwritten.
    for (var i = 0u; i + 1u < KERNEL; i++) {
      state[i * COLUMNS + column] = earlier(frame.tokens, KERNEL - 1u - i, column);
    }
  }
}
