// Heads made ready pair by pair, where a lane has too many of them to keep what they are made of.
fn load_heads(token: u32, first_head: u32, kv_head: u32, lane: u32) {}

fn make_heads(token: u32, first_head: u32, kv_head: u32, lane: u32) {
  for (var k = 0u; k < OWN_PAIRS; k++) {
    let i = k * THREADS + lane;
    let value = value_of(token, pair_of(min(i, PREPARED_HEADS * HEAD_PAIRS - 1u)), first_head, kv_head);
    record_squares(i, dot(value, value));
  }
  make_factors(lane);
  for (var i = lane; i < PREPARED_HEADS * HEAD_PAIRS; i += THREADS) {
    let pair = pair_of(i);
    let value = value_of(token, pair, first_head, kv_head) * weights_of(pair) * factor_of(pair.head);
    set_pair(pair, value, angle_of(token, pair));
  }
}
