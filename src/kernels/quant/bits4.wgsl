// Eight q of 4 bits: a word of the low stream.
alias WeightWord = u32;
alias Quanta = u32;

fn load_quanta(i: u32) -> Quanta {
  return weight_words[i];
}

fn numbers8(low: Quanta) -> array<vec4<u32>, 2> {
  let shifts = vec4(0u, 4u, 8u, 12u);
  return array((vec4(low) >> shifts) & vec4(15u), (vec4(low >> 16u) >> shifts) & vec4(15u));
}
