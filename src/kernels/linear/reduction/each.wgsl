// The rows of a lane group one by one.
fn reduce_rows(row: u32, sums: array<f32, BLOCK>, lane: u32) {
  for (var r = 0u; r < BLOCK; r++) {  // unroll
    reduction(row + r, sums[r], lane);
  }
}
