fn activated(value: f32, column: u32) -> f32 {
  return half_snake(value, column);
}
