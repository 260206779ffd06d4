// A unit is eight weights, decoded as they are loaded.
alias Unit = array<vec4<f32>, 2>;

fn note_units() {}

fn load_unit(i: u32) -> Unit {
  return weights8(i);
}

fn unit_product(w: Unit, round: u32) -> f32 {
  return dot(w[0], own[2u * round]) + dot(w[1], own[2u * round + 1u]);
}
