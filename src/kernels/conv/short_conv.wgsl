// One column per lane, up to TOKENS tokens of one sequence; tiles of them are grid.y. Contract: short_conv.h.
// TOKENS is at least REACH, KERNEL - 1: so only the first tile of a sequence reads the state, and it writes it as well.
// AT_ONCE rows are computed from what was loaded for all of them.
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
  return state[state_of(slot) + (t + REACH - back) * COLUMNS + column];
}

fn state_of(slot: u32) -> u32 {
  return batch.slot[slot].index * REACH * COLUMNS;
}

fn run(group: vec3<u32>, lane: u32) {
  let column = group.x * THREADS + lane;
  if (column >= COLUMNS) {
    return;
  }
  let tile = tile_of(group.y, TOKENS);
  let start_row = batch.slot[tile.slot].start;
  var taps: array<f32, KERNEL>;
  for (var j = 0u; j < KERNEL; j++) {  // unroll
    taps[j] = w[column * KERNEL + j];
  }
  for (var first = tile.first; first < tile.end; first += AT_ONCE) {
    var inputs: array<f32, REACH + AT_ONCE>;
    for (var i = 0u; i < REACH; i++) {  // unroll
      inputs[i] = earlier(tile.slot, first - start_row, REACH - i, column);
    }
    for (var i = 0u; i < AT_ONCE; i++) {  // unroll
      inputs[REACH + i] = input(min(first + i, tile.end - 1u), column);
    }
    for (var i = 0u; i < AT_ONCE; i++) {  // unroll
      var sum = start(column);
      for (var j = 0u; j < KERNEL; j++) {  // unroll
        sum += taps[j] * inputs[i + j];
      }
      if (first + i < tile.end) {
        y[(first + i) * COLUMNS + column] = after(first + i, column) * activate(sum);
      }
    }
  }
  if (tile.first == start_row && tile.first < tile.end) {
    // Row i comes from further down, so ascending order reads each row before it is overwritten.
    for (var i = 0u; i < REACH; i++) {
      state[state_of(tile.slot) + i * COLUMNS + column] =
          earlier(tile.slot, batch.slot[tile.slot].count, REACH - i, column);
    }
  }
}
