// By shuffles among lanes that have neighbouring pairs of a head: so many that a subgroup has them
// all.
const TOGETHER = HEAD_PAIRS / SHARES;
var<workgroup> square_shares: array<f32, MADE * SHARES>;

fn note_squares(i: u32, squares: f32) {
  var sum = squares;
  for (var step = 0u; step < TOGETHER_STEPS; step++) {  // written out
    sum += subgroupShuffleXor(sum, 1u << step);
  }
  if (i % TOGETHER == 0u && i < MADE * HEAD_PAIRS) {
    square_shares[i / TOGETHER] = sum;
  }
}

fn make_factors(lane: u32) {
  workgroupBarrier();
}
