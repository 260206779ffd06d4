// A unit is eight weights, decoded as they are loaded.
alias Unit = array<vec4<f32>, 2>;

fn note_unit() {}

fn load_unit(i: u32) -> Unit {
  return weights8(i);
}

fn unit_product(w: Unit) -> f32 {
  return dot(w[0], own[0]) + dot(w[1], own[1]);
}
