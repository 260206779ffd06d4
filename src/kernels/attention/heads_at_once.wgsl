// Heads made ready from what is loaded before anything waits.
var<private> values: array<vec2<f32>, OWN_PAIRS>;
var<private> angles: array<vec2<f32>, OWN_PAIRS>;
var<private> weights: array<vec2<f32>, OWN_PAIRS>;

fn load_heads(token: u32, first_head: u32, kv_head: u32, lane: u32) {
  for (var k = 0u; k < OWN_PAIRS; k++) {  // unroll
    let pair = pair_of(min(k * THREADS + lane, PREPARED_HEADS * HEAD_PAIRS - 1u));
    values[k] = value_of(token, pair, first_head, kv_head);
    weights[k] = weights_of(pair);
    angles[k] = angle_of(token, pair);
  }
}

fn make_heads(token: u32, first_head: u32, kv_head: u32, lane: u32) {
  for (var k = 0u; k < OWN_PAIRS; k++) {  // unroll
    record_squares(k * THREADS + lane, dot(values[k], values[k]));
  }
  make_factors(lane);
  for (var k = 0u; k < OWN_PAIRS; k++) {  // unroll
    let i = k * THREADS + lane;
    if (i < PREPARED_HEADS * HEAD_PAIRS) {
      let pair = pair_of(i);
      set_pair(pair, values[k] * weights[k] * factor_of(pair.head), angles[k]);
    }
  }
}
