// The norm of the sum that was kept.
fn store_norm(start: u32, lane: u32, squares: f32) {
  let scale = inverseSqrt(reduce_sum(squares, lane) / f32(GROUP * UNIT) + EPS);
  for (var c = lane; c < GROUP; c += THREADS) {
    store(start + c, kept(start + c) * scale * v[c]);
  }
}
