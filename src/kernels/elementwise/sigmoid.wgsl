fn activate(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(min(-x, 80.0)));
}
