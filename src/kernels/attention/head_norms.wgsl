// Norms of heads: the queries' weight, then the key's; a value has none.
@group(0) @binding(NORMS_BINDING) var<storage, read> norms: array<f32>;

const SHARES = 8u;  // the squares of a head are added up in so many parts
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

fn factor_of(head: u32) -> f32 {
  if (head == VALUE && NORM_V == 0u) {
    return 1.0;
  }
  var squares = 0.0;
  for (var i = 0u; i < SHARES; i++) {
    squares += square_shares[head * SHARES + i];
  }
  return inverseSqrt(squares / f32(HEAD_DIM) + EPS);
}

fn weights_of(pair: Pair) -> vec2<f32> {
  if (pair.head == VALUE) {
    return vec2(1.0);
  }
  let start = select(0u, HEAD_DIM, pair.head == KEY);
  return vec2(norms[start + pair.a], norms[start + pair.b]);
}
