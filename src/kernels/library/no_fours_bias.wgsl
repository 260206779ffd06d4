fn bias_four(four: u32) -> vec4<f32> {
  return vec4(0.0);
}
