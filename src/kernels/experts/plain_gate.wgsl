fn gated(gate: f32, up: f32) -> f32 {
  return activate(gate) * up;
}
