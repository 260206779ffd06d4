// x as it is, gated or not.
struct Parts {
  x: vec4<f32>,
  gate: vec4<f32>,
}

fn parts_of(at: u32) -> Parts {
  return Parts(x_at(at), gate_of(at));
}

fn begin(lane: u32) {}

fn prepared(parts: Parts, at: u32, counts: bool) -> vec4<f32> {
  return select(vec4<f32>(), parts.gate * parts.x, counts);
}

fn scale_of(squares: f32) -> f32 {
  return 1.0;
}
