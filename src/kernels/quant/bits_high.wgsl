// Eight q of 4 + HIGH_BITS bits: a word of the low stream, HIGH_BITS bytes of the high one.
alias WeightWord = u32;
alias Quanta = vec2<u32>;

const EIGHTS_PER_WORD = 4u / HIGH_BITS;

fn load_quanta(i: u32) -> Quanta {
  let shift = 8u * HIGH_BITS * (i % EIGHTS_PER_WORD);
  return vec2(weight_words[i], weight_words[HIGH + i / EIGHTS_PER_WORD] >> shift);
}

fn quants8(words: Quanta) -> array<vec4<f32>, 2> {
  let low = words.x;
  let high = words.y;
  let shifts = vec4(0u, 4u, 8u, 12u);
  let tops = vec4(0u, 1u, 2u, 3u) * HIGH_BITS;
  let mask = vec4((1u << HIGH_BITS) - 1u);
  return array(vec4<f32>(((vec4(low) >> shifts) & vec4(15u)) |
                         (((vec4(high) >> tops) & mask) << vec4(4u))),
               vec4<f32>(((vec4(low >> 16u) >> shifts) & vec4(15u)) |
                         (((vec4(high >> (4u * HIGH_BITS)) >> tops) & mask) << vec4(4u))));
}

