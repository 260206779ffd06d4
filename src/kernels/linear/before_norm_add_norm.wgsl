// rms_norm(s, v) of the sum of sandwich.wgsl; v stands behind the weight of the first norm.
fn prepared(at: u32, counts: bool) -> vec4<f32> {
  let sum = sum_of(at, counts);
  squares += dot(sum, sum);
  return sum * norm[IN / 4u + at];
}

fn scale_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(IN) + EPS);
}
