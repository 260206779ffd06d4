fn factor() -> f32 {
  return 1.0;
}
