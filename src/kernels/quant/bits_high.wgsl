// Eight q of LOW_BITS + HIGH_BITS bits: LOW_BITS bytes of the low stream, HIGH_BITS of the high one.
alias WeightWord = u32;
alias Quanta = vec2<u32>;

const LOW_PER_WORD = 4u / LOW_BITS;
const HIGH_PER_WORD = 4u / HIGH_BITS;

fn load_quanta(i: u32) -> Quanta {
  let low_shift = 8u * LOW_BITS * (i % LOW_PER_WORD);
  let shift = 8u * HIGH_BITS * (i % HIGH_PER_WORD);
  return vec2(weight_words[i / LOW_PER_WORD] >> low_shift,
              weight_words[HIGH + i / HIGH_PER_WORD] >> shift);
}

fn numbers8(words: Quanta) -> array<vec4<u32>, 2> {
  let low = words.x;
  let high = words.y;
  let shifts = vec4(0u, 1u, 2u, 3u) * LOW_BITS;
  let low_mask = vec4((1u << LOW_BITS) - 1u);
  let tops = vec4(0u, 1u, 2u, 3u) * HIGH_BITS;
  let mask = vec4((1u << HIGH_BITS) - 1u);
  let place = vec4(LOW_BITS);
  return array(((vec4(low) >> shifts) & low_mask) |
                   (((vec4(high) >> tops) & mask) << place),
               ((vec4(low >> (4u * LOW_BITS)) >> shifts) & low_mask) |
                   (((vec4(high >> (4u * HIGH_BITS)) >> tops) & mask) << place));
}
