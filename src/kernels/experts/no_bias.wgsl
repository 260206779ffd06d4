fn bias_of(slot: u32, row: u32) -> f32 {
  return 0.0;
}
