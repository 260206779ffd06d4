fn input(at: u32) -> vec4<f32> {
  return x[at];
}

fn input_scale(lane: u32) -> f32 {
  return 1.0;
}
