// A unit is eight weights of 16 bits, one load of 16 bytes.
alias Unit = WeightWord;

fn note_unit() {}

fn load_unit(i: u32) -> Unit {
  return weight_words[i];
}

fn unit_product(unit: Unit) -> f32 {
  let w = decode8(unit);
  return dot(w[0], own[0]) + dot(w[1], own[1]);
}
