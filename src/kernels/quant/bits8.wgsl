// Eight q of 8 bits: two words of the low stream. With the sign bits flipped, two's complement
// counts from 0 on.
alias WeightWord = u32;
alias Quanta = vec2<u32>;

fn load_quanta(i: u32) -> Quanta {
  return vec2(weight_words[2u * i], weight_words[2u * i + 1u]);
}

fn numbers8(words: Quanta) -> array<vec4<u32>, 2> {
  let shifts = vec4(0u, 8u, 16u, 24u);
  return array((vec4(words.x ^ FLIPPED_BITS) >> shifts) & vec4(255u),
               (vec4(words.y ^ FLIPPED_BITS) >> shifts) & vec4(255u));
}
