// One group of GROUP neighbours per workgroup, in units. Contract and reference: rms_norm.h.
fn run(group: vec3<u32>, lane: u32) {
  let start = group.y * COLUMNS + group.x * GROUP;
  var squares = 0.0;
  for (var c = lane; c < GROUP; c += THREADS) {
    let value = load(start + c);
    keep(start + c, value);
    squares += square_of(value);
  }
  let scale = inverseSqrt(reduce_sum(squares, lane) / f32(GROUP * UNIT) + EPS);
  for (var c = lane; c < GROUP; c += THREADS) {
    store(start + c, kept(start + c) * scale * w[c]);
  }
}
