fn append(row: u32, head: u32, i: u32, value: vec4<f32>, step: f32) {}

fn step_of_head(largest: vec4<f32>, lane: u32) -> f32 {
  return 1.0;
}
