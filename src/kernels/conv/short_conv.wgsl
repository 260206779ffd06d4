// One column per lane, up to TOKENS tokens of one sequence; tiles of them are grid.y. Contract: short_conv.h.
// TOKENS is at least KERNEL - 1, so only the first tile of a sequence reads the state, and it writes it as well.
@group(0) @binding(INPUT_1) var<storage, read> w: array<f32>;
@group(0) @binding(OUTPUT_0) var<storage, read_write> y: array<f32>;
@group(0) @binding(OUTPUT_1) var<storage, read_write> state: array<f32>;

// The input `back` tokens before the slot's row t, counted from its first one.
fn earlier(slot: u32, t: u32, back: u32, column: u32) -> f32 {
  if (t >= back) {
    return input(batch.slot[slot].start + t - back, column);
  }
  if (batch.slot[slot].position == 0u) {
    return 0.0;
  }
  return state[state_of(slot) + (t + KERNEL - 1u - back) * COLUMNS + column];
}

fn state_of(slot: u32) -> u32 {
  return batch.slot[slot].index * (KERNEL - 1u) * COLUMNS;
}

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column >= COLUMNS) {
    return;
  }
  let tile = tile_of(group.y, TOKENS);
  let start_row = batch.slot[tile.slot].start;
  for (var row = tile.first; row < tile.end; row++) {
    var sum = start(column);
    for (var j = 0u; j < KERNEL; j++) {
      sum += w[column * KERNEL + j] * earlier(tile.slot, row - start_row, KERNEL - 1u - j, column);
    }
    y[row * COLUMNS + column] = after(row, column) * activate(sum);
  }
  if (tile.first == start_row && tile.first < tile.end) {
    // Row i comes from further down, so ascending order reads each row before it is overwritten.
    for (var i = 0u; i + 1u < KERNEL; i++) {
      state[state_of(tile.slot) + i * COLUMNS + column] =
          earlier(tile.slot, batch.slot[tile.slot].count, KERNEL - 1u - i, column);
    }
  }
}
