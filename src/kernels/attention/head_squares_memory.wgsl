// By workgroup memory.
var<workgroup> pair_squares: array<f32, MADE * HEAD_PAIRS>;
var<workgroup> square_shares: array<f32, MADE * SHARES>;

fn note_squares(i: u32, squares: f32) {
  if (i < MADE * HEAD_PAIRS) {
    pair_squares[i] = squares;
  }
}

fn make_factors(lane: u32) {
  workgroupBarrier();
  for (var i = lane; i < MADE * SHARES; i += THREADS) {
    var sum = 0.0;
    for (var at = i % SHARES; at < HEAD_PAIRS; at += SHARES) {
      sum += pair_squares[i / SHARES * HEAD_PAIRS + at];
    }
    square_shares[i] = sum;
  }
  workgroupBarrier();
}
