// x as it is.
fn begin(lane: u32) {}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  return select(vec4<f32>(), x[at], counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
