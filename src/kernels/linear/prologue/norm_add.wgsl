// The sum of sandwich.wgsl itself.
fn second_norm_of(at: u32) -> vec4<f32> {
  return vec4(1.0);
}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  return sum_of(parts, at, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
