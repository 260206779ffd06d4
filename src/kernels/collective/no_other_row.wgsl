fn other_squares(row: u32, lane: u32) -> f32 {
  return 0.0;
}
fn norm_other(row: u32, squares: f32, lane: u32) {
}
