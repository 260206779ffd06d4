// By workgroup memory.
var<workgroup> pair_squares: array<f32, PREPARED_HEADS * HEAD_PAIRS>;
var<workgroup> square_partials: array<f32, PREPARED_HEADS * PARTIALS>;

fn record_squares(i: u32, squares: f32) {
  if (i < PREPARED_HEADS * HEAD_PAIRS) {
    pair_squares[i] = squares;
  }
}

fn make_factors(lane: u32) {
  workgroupBarrier();
  for (var i = lane; i < PREPARED_HEADS * PARTIALS; i += THREADS) {
    var sum = 0.0;
    for (var at = i % PARTIALS; at < HEAD_PAIRS; at += PARTIALS) {
      sum += pair_squares[i / PARTIALS * HEAD_PAIRS + at];
    }
    square_partials[i] = sum;
  }
  workgroupBarrier();
}
