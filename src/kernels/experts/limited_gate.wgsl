// gpt-oss's gate. Below -80 the exponential is beyond f32.
fn gated(gate: f32, up: f32) -> f32 {
  let g = min(gate, LIMIT);
  let u = clamp(up, -LIMIT, LIMIT);
  return (u + 1.0) * g / (1.0 + exp(min(-1.702 * g, 80.0)));
}
