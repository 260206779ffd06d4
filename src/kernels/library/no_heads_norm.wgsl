fn normed(row: u32, four: u32) -> vec4<f32> {
  return up_four(row, four);
}
