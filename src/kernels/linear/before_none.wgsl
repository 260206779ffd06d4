// x as it is, gated or not.
fn begin(lane: u32) {}

fn prepared(at: u32, counts: bool) -> vec4<f32> {
  return select(vec4<f32>(), gate_of(at) * x[at], counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
