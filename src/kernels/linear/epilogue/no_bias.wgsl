fn bias(row: u32) -> f32 {
  return 0.0;
}

