// The sum of sandwich.wgsl itself.
fn prepared(at: u32, counts: bool) -> vec4<f32> {
  return sum_of(at, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
