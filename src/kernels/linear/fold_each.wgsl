// The rows of a team one by one.
fn fold_rows(row: u32, sums: array<f32, BLOCK>, lane: u32) {
  for (var r = 0u; r < BLOCK; r++) {  // written out
    fold(row + r, sums[r], lane);
  }
}
