fn expert_bias(expert: u32) -> f32 {
  return 0.0;
}

