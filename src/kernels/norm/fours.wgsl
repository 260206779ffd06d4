// Elements four by four: a quarter of the loads, one after the other, that a lane waits for.
alias Unit = vec4<f32>;

fn square_of(unit: Unit) -> f32 {
  return dot(unit, unit);
}
fn sum_of(unit: Unit) -> f32 {
  return dot(unit, Unit(1.0));
}
