// One group of GROUP neighbours per workgroup, in units: their mean, then how far they are from it.
// Contract and reference: layer_norm.h.
fn run(group: vec3<u32>, lane: u32) {
  let start = group.y * COLUMNS + group.x * GROUP;
  var sum = 0.0;
  for (var c = lane; c < GROUP; c += THREADS) {
    let value = load(start + c);
    keep(start + c, value);
    sum += sum_of(value);
  }
  let mean = reduce_sum(sum, lane) / f32(GROUP * UNIT);
  var squares = 0.0;
  for (var c = lane; c < GROUP; c += THREADS) {
    squares += square_of(kept(start + c) - mean);
  }
  let scale = inverseSqrt(reduce_sum(squares, lane) / f32(GROUP * UNIT) + EPS);
  for (var c = lane; c < GROUP; c += THREADS) {
    store(start + c, (kept(start + c) - mean) * scale * w[c] + bias_at(c));
  }
}
