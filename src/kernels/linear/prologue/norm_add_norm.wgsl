// rms_norm(s, v) of the sum of sandwich.wgsl; v stands after the weight of the first norm.
fn second_norm_of(at: u32) -> vec4<f32> {
  return norm[IN / 4u + at];
}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  let sum = sum_of(parts, at, counts);
  squares += dot(sum, sum);
  return sum * parts.second_norm;
}

fn scale_of(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(IN) + EPS);
}
