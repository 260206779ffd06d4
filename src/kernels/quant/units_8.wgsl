// A unit is eight weights as they are stored.
alias Unit = Stored8;

fn record_unit() {}

fn load_unit(i: u32) -> Unit {
  return load8(i);
}

fn unit_product(unit: Unit) -> f32 {
  let w = decode8(unit);
  return dot(w[0], own[0]) + dot(w[1], own[1]);
}
