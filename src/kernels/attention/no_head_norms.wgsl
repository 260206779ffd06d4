fn record_squares(i: u32, squares: f32) {}

fn make_factors(lane: u32) {}

fn factor_of(head: u32) -> f32 {
  return 1.0;
}

fn weights_of(pair: Pair) -> vec2<f32> {
  return vec2(1.0);
}
