// Elements one by one.
alias Unit = f32;

fn square_of(unit: Unit) -> f32 {
  return unit * unit;
}
fn sum_of(unit: Unit) -> f32 {
  return unit;
}
