fn expert_scale(expert: u32) -> f32 {
  return 1.0;
}

