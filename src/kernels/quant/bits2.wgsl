// Eight q of 2 bits: half a word of the low stream.
alias WeightWord = u32;
alias Quanta = u32;

fn load_quanta(i: u32) -> Quanta {
  return weight_words[i / 2u] >> (16u * (i % 2u));
}

fn numbers8(low: Quanta) -> array<vec4<u32>, 2> {
  let shifts = vec4(0u, 2u, 4u, 6u);
  return array((vec4(low) >> shifts) & vec4(3u), (vec4(low >> 8u) >> shifts) & vec4(3u));
}
