fn norm_scale(head: u32, squares: f32, lane: u32) -> f32 {
  return 1.0;
}
fn norm_weight(head: u32, i: u32) -> vec4<f32> {
  return vec4<f32>(1.0);
}
