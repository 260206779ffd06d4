// Norms of heads: the queries' weight, then the key's; a value has none. head_squares_*.wgsl adds up
// the squares of a head, in PARTIALS parts.
@group(0) @binding(NORMS_BINDING) var<storage, read> norms: array<f32>;

fn factor_of(head: u32) -> f32 {
  if (head == VALUE && NORM_V == 0u) {
    return 1.0;
  }
  var squares = 0.0;
  for (var i = 0u; i < PARTIALS; i++) {  // unroll
    squares += square_partials[head * PARTIALS + i];
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
